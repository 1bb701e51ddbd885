"""Which rows of a day's dependencies repeats are made of, told by themselves."""

import polars as pl

from tests.transforms.frames import DAY, show
from tests.transforms.marts.test_repeat_transfers import GIT, HUB, OTHER, RUN, contact
from transforms.day import BuildDay
from transforms.marts.host_contacts import hosts_of_day
from transforms.sql import SqlSession

OWN = {"service": None, "resource_id": "dns://git.example.com:443"}
PLAIN = {"service": None, "resource_id": "dns://api.example.com:443"}
DECLARED = [{"run_uuid": RUN, "resource_id": "git+https://git.example.com/acme/train.git"}]


def hosts(*contacts: dict) -> list[tuple]:
    with SqlSession(threads=1) as session:
        show(session, run_dependency_days=list(contacts), declared_dependencies=DECLARED)
        rows = session.frame("run_dependency_days").drop("date")
        session.connection.execute("DROP VIEW IF EXISTS run_dependency_days")
        session.connection.unregister("run_dependency_days")
        session.register("made", rows)
        found: pl.DataFrame = session.frame(hosts_of_day(session, BuildDay(DAY, "fleet"), "made"))
        assert set(found["date"]) <= {DAY}
        return sorted(found.select("run_uuid", "host", "received_bytes").rows())


def test_hosts_of_the_catalogue_and_of_declared_repositories_are_the_part() -> None:
    of_hub = contact("10:00", **HUB)
    of_git = contact("10:01", **GIT)
    own = contact("10:02", **OWN)
    others = [contact("10:03", **PLAIN), contact("10:04", OTHER, **OWN)]
    found = hosts(of_hub, of_git, own, *others)
    assert [(run, host) for run, host, _ in found] == [
        (RUN, "git.example.com"),
        (RUN, "github.com"),
        (RUN, "huggingface.co"),
    ]


def test_other_contacts_change_nothing_of_it_and_its_own_do() -> None:
    before = hosts(contact("10:00", **HUB), contact("10:01", **PLAIN))
    assert hosts(contact("10:00", **HUB), contact("10:01", received_bytes=9, **PLAIN)) == before
    assert hosts(contact("10:00", **HUB)) == before
    assert hosts(contact("10:00", received_bytes=51, **HUB)) != before
