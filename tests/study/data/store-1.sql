BEGIN TRANSACTION;
CREATE TABLE events (
            study INTEGER NOT NULL,
            number INTEGER NOT NULL,
            kind TEXT NOT NULL,
            contents TEXT NOT NULL,
            worker TEXT,
            request TEXT,
            part INTEGER NOT NULL,
            time REAL NOT NULL,
            PRIMARY KEY (study, number),
            UNIQUE (study, request, part)
        ) WITHOUT ROWID;
INSERT INTO "events" VALUES(1,0,'created','{"space":{"type":"Arms","features":[[0.0],[0.5],[1.0]]},"seed":0,"initial":1}',NULL,NULL,0,1750000000.0);
INSERT INTO "events" VALUES(1,1,'asked','{"id":0,"held":true,"why":"initial arm 1 of 1, at random","point":2}','oven-3','r-1',0,1750000000.0);
INSERT INTO "events" VALUES(1,2,'told','{"point":2,"id":0,"reward":0.25,"noise":null,"count":null,"deviation":null}',NULL,NULL,0,1750000000.0);
INSERT INTO "events" VALUES(1,3,'noted','{"text":"changed the nozzle"}',NULL,NULL,0,1750000000.0);
CREATE TABLE locks (study INTEGER PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE studies (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE
        );
INSERT INTO "studies" VALUES(1,'alloy');
CREATE TABLE windfall (version INTEGER NOT NULL);
INSERT INTO "windfall" VALUES(1);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('studies',1);
COMMIT;
