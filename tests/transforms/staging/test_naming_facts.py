"""Facts of look-ups: each note states numbers of rows, and none is said of rows that name."""

from datetime import UTC, datetime

import polars as pl
import pytest

from schemas.registry import table_spec
from transforms.staging.naming_facts import MAX_CLIENTS, NamingFacts, is_node_local, no_lookups_note

ADDRESS = {"name": "example.com", "type": "A", "data": "203.0.113.7", "ttl": 60}
ALIAS = {"name": "example.com", "type": "CNAME", "data": "edge.example.net", "ttl": 60}
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 8, tzinfo=UTC),
    "client_address": "192.0.2.31",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": [ADDRESS],
    "is_response": True,
}
NO_RESPONSE = {"rcode": None, "answers": None, "is_response": False}


def frame(table, rows):
    schema = table_spec(table).polars_schema
    return pl.DataFrame({c: [row.get(c) for row in rows] for c in schema}, schema=schema)


def facts(*changes, flows=()):
    found = NamingFacts()
    found.add("dns_lookups", frame("dns_lookups", [LOOKUP | change for change in changes]))
    found.add("flows", frame("flows", [{"destination_port": port} for port in flows]))
    return found


def test_the_rows_are_counted_by_fact():
    found = facts(
        {},
        {"query_type": "AAAA", "answers": []},
        {"rcode": "NXDOMAIN", "answers": [ALIAS], "client_pod_name": "train-0"},
        NO_RESPONSE | {"client_address": None},
        flows=[53, 53, 443, None],
    )
    assert found.texts() == [
        "a_noerror=1", "a_responses=2", "dns_flows=2", "lookups=4", "noerror=2", "responses=3",
        "with_addresses=1", "with_answers=3", "with_client=3", "with_pod=1",
    ]  # fmt: skip
    assert found.addresses() == ["192.0.2.31"]
    assert found.notes() == []


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ([{}], []),
        ([{}, {"rcode": "NXDOMAIN", "answers": []}], []),
        (
            [NO_RESPONSE, NO_RESPONSE],
            [
                "no_responses: 2 look-up(s), none with a response",
                "no_answers: 2 look-up(s), none with answers; they bind no name to an address",
            ],
        ),
        (
            [{"rcode": "NXDOMAIN", "answers": []}, {"rcode": "SERVFAIL", "answers": []}],
            [
                ("only_failures: 2 response(s), none NOERROR; successes are left out "
                "(`class denial error`), or there were none?")
            ],
        ),
        (
            # A name without addresses of version 6 is a denial, too, and its code is NOERROR.
            [{"rcode": "NXDOMAIN"}, {"query_type": "AAAA", "answers": []}, NO_RESPONSE],
            [
                ("only_failures: 1 response(s) of type A, none NOERROR; successes are left out "
                "(`class denial error`), or there were none?")
            ],
        ),
        ([{"rcode": "NXDOMAIN"}, {"query_type": None}], [
            ("only_failures: 1 response(s) of type A, none NOERROR; successes are left out "
            "(`class denial error`), or there were none?")
        ]),
        ([{"query_type": "AAAA"}], []),
        (
            [{"answers": None}],
            ["no_answers: 1 look-up(s), none with answers; they bind no name to an address"],
        ),
        ([{"answers": [ALIAS]}], ["no_addresses: 1 look-up(s), none answered with an address"]),
        (
            [{"answers": [ADDRESS | {"data": None}]}],
            ["no_addresses: 1 look-up(s), none answered with an address"],
        ),
        ([{"client_address": None}], ["no_clients: 1 look-up(s), none with a client"]),
        ([{"client_address": None, "client_pod_name": "train-0"}], []),
        (
            [{"client_address": "169.254.20.10"}, {"client_address": "198.51.100.1"}],
            [
                ("node_clients: 2 look-up(s), all of 2 client address(es) link-local, loopback or "
                "a node's; a node-local cache asks for the pods?")
            ],
        ),
        ([{"client_address": "169.254.20.10"}, {}], []),
        # The pod is named, so the address does not matter.
        ([{"client_address": "198.51.100.1", "client_pod_name": "train-0"}], []),
    ],
)  # fmt: skip
def test_a_note_is_a_fact_of_all_rows(changes, notes):
    assert facts(*changes).notes({"198.51.100.1"}) == notes


def test_an_address_of_a_node_is_one_only_where_it_is_known():
    assert facts({"client_address": "198.51.100.1"}).notes() == []


def test_flows_to_port_53_without_a_look_up_are_noted():
    assert facts(flows=[53, 53]).notes() == [
        (
            "no_dns_events: 2 flow(s) to port 53, no look-up; no policy sends DNS through Hubble's "
            "proxy, or the export leaves its events out?"
        )
    ]
    assert facts({}, flows=[53]).notes() == []
    assert facts(flows=[443]).notes() == []
    assert NamingFacts().notes() == []


def test_more_clients_than_are_kept_are_not_judged():
    many = [{"client_address": f"169.254.{n // 250}.{n % 250}"} for n in range(MAX_CLIENTS + 1)]
    assert facts(*many).addresses() is None
    assert facts(*many).notes() == []
    assert len(facts(*many[:-1]).notes()) == 1


def test_what_the_ledger_keeps_adds_up_to_the_same_facts():
    first, second = facts({}, NO_RESPONSE), facts({"client_address": "192.0.2.9"}, flows=[53])
    united = NamingFacts()
    for part in (first, second):
        united.add_texts(part.texts(), part.addresses())
    whole = facts({}, NO_RESPONSE, {"client_address": "192.0.2.9"}, flows=[53])
    assert united.texts() == whole.texts()
    assert united.addresses() == whole.addresses() == ["192.0.2.31", "192.0.2.9"]
    united.add_texts([], None)
    assert united.addresses() is None


def test_other_tables_say_nothing():
    found = NamingFacts()
    found.add("services", pl.DataFrame({"service": ["dns"]}))
    assert found.texts() == []


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("169.254.20.10", True), ("fe80::1", True), ("127.0.0.1", True), ("::1", True),
        ("192.0.2.1", False), ("2001:db8::1", False), ("169.25.4.1", False),
    ],
)  # fmt: skip
def test_addresses_of_one_node_are_told(address, is_local):
    assert is_node_local(address) is is_local


def test_files_without_a_look_up_are_noted_by_their_records():
    assert no_lookups_note(8).startswith("no_lookups: 8 record(s) read, none gives a look-up; ")
