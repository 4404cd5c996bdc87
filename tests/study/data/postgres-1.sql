CREATE SCHEMA windfall;
SET search_path = windfall;
CREATE TABLE windfall (version INTEGER NOT NULL);
INSERT INTO windfall VALUES (1);
CREATE TABLE studies (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO studies (name) VALUES ('alloy');
CREATE TABLE events (
    study BIGINT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    contents TEXT NOT NULL,
    worker TEXT,
    request TEXT,
    part INTEGER NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (study, number),
    UNIQUE (study, request, part)
);
INSERT INTO events VALUES
    (1, 0, 'created', '{"space":{"type":"Arms","features":[[0.0],[0.5],[1.0]]},"seed":0,"initial":1}', NULL, NULL, 0, 1750000000.0),
    (1, 1, 'asked', '{"id":0,"held":true,"why":"initial arm 1 of 1, at random","point":2}', 'oven-3', 'r-1', 0, 1750000000.0),
    (1, 2, 'told', '{"point":2,"id":0,"reward":0.25,"noise":null,"count":null,"deviation":null}', NULL, NULL, 0, 1750000000.0),
    (1, 3, 'noted', '{"text":"changed the nozzle"}', NULL, NULL, 0, 1750000000.0);
CREATE TABLE locks (study BIGINT PRIMARY KEY, holder TEXT NOT NULL, until DOUBLE PRECISION NOT NULL);
