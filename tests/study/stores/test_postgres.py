"""A server: what it promises beyond the contract, and what is said when something is wrong."""

import pickle
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from store_kinds import emptied, server

import windfall as wf
from windfall.errors import InputError
from windfall.study.stores import Conflict, Locked, open_store, postgres
from windfall.study.stores.postgres import PostgresStore

DATA = Path(__file__).parents[1] / "data"
NOTED = [("noted", {"text": "x"})]


@pytest.fixture
def url() -> str:
    """A database with one study of one event."""
    emptied("postgres")
    with closing(PostgresStore(server().url())) as store:
        store.create("alloy", {"seed": 0})
    return server().url()


def said(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def admin(statement: str, *values) -> list:
    with psycopg.connect(server().url(), autocommit=True) as db:
        done = db.execute(statement, values or None)
        return done.fetchall() if done.description else []


def backend(store) -> int:
    return store._db.info.backend_pid


def end(store) -> None:
    """Cut a connection, as a server that restarts does."""
    admin("SELECT pg_terminate_backend(%s, 5000)", backend(store))


def test_what_is_acknowledged_is_on_the_disk(url):
    admin("ALTER DATABASE postgres SET synchronous_commit = off")
    try:
        with closing(PostgresStore(url)) as store:
            assert store._db.execute("SHOW synchronous_commit").fetchone() == ("on",)
    finally:
        admin("ALTER DATABASE postgres RESET synchronous_commit")


def test_a_connection_that_was_lost_is_made_anew(url):
    with closing(PostgresStore(url)) as store:
        for call in (lambda: store.append(1, NOTED), lambda: store.read(1), store.list, store.now):
            end(store)
            call()
        assert [event.number for event in store.read(1)] == [0, 1]


def test_a_server_that_is_away_and_comes_back(url):
    with wf.Study("glass", [[0.0], [1.0]], "mean", store=url) as study:
        study.tell(0, 1.0)
        server().stop("immediate")
        try:
            complaint = said(lambda: study.tell(1, 2.0))
            assert "cannot be reached (" in complaint
            assert "check that the server runs and that the address is right, and" in complaint
        finally:
            server().start()
        study.tell(1, 2.0)
        assert study.rewards == [(0, 1.0), (1, 2.0)]


def test_a_connection_lost_in_the_midst_of_a_change_leaves_nothing_or_all(url, monkeypatch):
    """Before the commit it is done again; when the commit itself is not answered, it is said."""
    with closing(PostgresStore(url)) as store:
        run, first = store._run, store._db

        def cut_once(db, statement, *values):
            done = run(db, statement, *values)
            if statement.startswith("INSERT") and db is first:
                end(store)
            return done

        monkeypatch.setattr(store, "_run", cut_once)
        assert [event.number for event in store.append(1, NOTED * 2)] == [1, 2]
        monkeypatch.undo()

        db = store._db
        execute = db.execute

        def unanswered(statement, values=()):
            done = execute(statement, values)
            if statement == "COMMIT":  # it arrives, its answer does not
                db.close()
                raise psycopg.OperationalError("server closed the connection")
            return done

        monkeypatch.setattr(db, "execute", unanswered)
        complaint = said(lambda: store.append(1, NOTED, request="r"))
        assert complaint.endswith(
            "lost its connection while it wrote; whether that was written is not known: repeat the "
            "call with the same request, or look at the history"
        )
        with pytest.raises(Conflict):  # it was
            store.append(1, NOTED, request="r")
        assert [event.number for event in store.read(1)] == [0, 1, 2, 3]


def test_a_lock_ends_with_the_connection_of_its_holder(url):
    """A worker that is killed while it has a study to itself holds nobody up."""
    with closing(PostgresStore(url)) as one, closing(PostgresStore(url)) as other:
        assert one.lock(1, "me", 1000.0)
        assert not one.lock(1, "another thread of mine", 1000.0)
        with pytest.raises(Locked):
            other.append(1, NOTED)
        end(one)
        other.append(1, NOTED)
        assert other.lock(1, "you", 1000.0)
        other.unlock(1, "you")
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        assert admin(held) == [(0,)]


def test_a_store_of_a_newer_version(url):
    admin("UPDATE windfall.windfall SET version = 9")
    assert said(lambda: PostgresStore(url)).endswith(
        f"has version 9; expected at most {len(postgres.MIGRATIONS)}: it was made by a newer "
        "windfall, install that"
    )


@pytest.mark.parametrize("version", range(1, len(postgres.MIGRATIONS) + 1))
def test_databases_of_every_version_open(version):
    emptied("postgres")
    admin((DATA / f"postgres-{version}.sql").read_text())
    with closing(PostgresStore(server().url())) as store:
        assert store.list() == {"alloy": 1}
        kinds = [event.kind for event in store.read(1)]
        assert kinds == ["created", "asked", "told", "noted"]
        assert store.create("glass", {}) == 2
    assert admin("SELECT version FROM windfall.windfall") == [(len(postgres.MIGRATIONS),)]


def test_migrations_are_made_once_and_whole(url, monkeypatch):
    newer = [*postgres.MIGRATIONS, ("CREATE TABLE more (a INT)", "INSERT INTO more VALUES (1)")]
    broken = [*newer, ("CREATE TABLE last (a INT)", "INSERT INTO nowhere VALUES (1)")]
    monkeypatch.setattr(postgres, "MIGRATIONS", broken)
    assert 'relation "nowhere" does not exist' in said(lambda: PostgresStore(url))
    monkeypatch.setattr(postgres, "MIGRATIONS", newer)
    for _ in range(2):
        with closing(PostgresStore(url)) as store:
            assert len(store.read(1)) == 1
        assert admin("SELECT a FROM windfall.more") == [(1,)]
        assert admin("SELECT version FROM windfall.windfall") == [(len(newer),)]
        assert admin("SELECT to_regclass('windfall.last')") == [(None,)]


def test_opening_makes_no_tables():
    emptied("postgres")
    assert "has no studies; expected" in said(lambda: wf.studies(server().url()))
    assert admin("SELECT to_regnamespace('windfall')") == [(None,)]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("windfall@/postgres", "windfall@/nowhere"), 'database "nowhere" does not exist'),
        (("windfall@/postgres", "somebody@/postgres"), 'role "somebody" does not exist'),
        (("?host=", "?host=/nowhere"), "cannot be reached (connection is bad: "),
        (("?host=", "?hoste="), 'invalid URI query parameter: "hoste"); expected postgresql://u'),
    ],
)
def test_an_address_that_is_wrong(url, change, complaint):
    assert complaint in said(lambda: PostgresStore(url.replace(*change)))


def test_a_password_is_not_shown():
    complaint = said(lambda: PostgresStore("postgresql://lab:secret@localhost:1/studies"))
    assert "secret" not in complaint
    assert complaint.startswith("store 'postgresql://lab:…@localhost:1/studies' cannot be reached")


def test_a_user_who_may_not(url):
    admin("CREATE ROLE reader LOGIN")
    try:
        theirs = url.replace("windfall@", "reader@")
        assert "may not be changed by this user; let its owner grant" in said(
            lambda: PostgresStore(theirs)
        )
        admin("GRANT USAGE ON SCHEMA windfall TO reader")
        admin("GRANT SELECT ON ALL TABLES IN SCHEMA windfall TO reader")
        with closing(PostgresStore(theirs)) as store:
            assert len(store.read(1)) == 1
            assert "may not be changed by this user" in said(lambda: store.create("glass", {}))
    finally:
        admin("DROP OWNED BY reader")
        admin("DROP ROLE reader")


def test_a_server_that_only_reads(url):
    with closing(PostgresStore(url)) as store:
        store._db.execute("SET default_transaction_read_only = on")
        assert "is read-only; connect to the primary" in said(lambda: store.append(1, NOTED))
        assert len(store.read(1)) == 1


@pytest.mark.parametrize(
    ("error", "complaint"),
    [
        (psycopg.errors.DiskFull, "the server's disk is full; free some space and repeat the call"),
        (psycopg.errors.DataCorrupted, "is damaged; restore it from a backup"),
        (psycopg.errors.TooManyConnections, "has too many connections; close some"),
    ],
)
def test_what_cannot_be_brought_about_here_is_said_as_well(url, error, complaint, monkeypatch):
    with closing(PostgresStore(url)) as store:

        def fails(db, statement, *values):
            if statement.startswith("INSERT"):
                raise error("out of luck")
            return run(db, statement, *values)

        run = store._run
        monkeypatch.setattr(store, "_run", fails)
        assert complaint in said(lambda: store.append(1, NOTED))
        monkeypatch.undo()
        assert [event.number for event in store.append(1, NOTED)] == [1]


def test_a_study_that_is_held_for_too_long(url):
    with closing(PostgresStore(url)) as one, closing(PostgresStore(url)) as other:
        other._db.execute("SET lock_timeout = '50ms'")
        one._db.execute("BEGIN")
        one._hold(one._db, 1)
        assert "is busy for more than 60 s; end the" in said(lambda: other.append(1, NOTED))
        assert len(other.read(1)) == 1  # reading waits for nobody
        one._db.execute("ROLLBACK")
        other.append(1, NOTED)


def test_without_psycopg(monkeypatch):
    monkeypatch.setitem(sys.modules, "windfall.study.stores.postgres", None)
    complaint = said(lambda: open_store("postgresql://lab/studies"))
    assert complaint.startswith("store needs psycopg, which is not there (")
    assert complaint.endswith("pip install 'windfall[postgres]'")


def test_a_store_travels_by_its_address(url):
    with (
        closing(PostgresStore(url)) as store,
        closing(pickle.loads(pickle.dumps(store))) as other,
    ):
        assert other.list() == {"alloy": 1}
