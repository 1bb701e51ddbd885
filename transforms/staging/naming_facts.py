"""What the look-ups of export files are worth for naming connections, as facts that can be counted.

Some exports hold look-ups that name nothing: a log without answers, one that leaves successes out
(CoreDNS's `class denial error`), one whose clients are all node-local caches. Each fact is a number
of rows; a note states what the numbers are, and marks a likely cause by a question mark. Nothing is
said of rows that are not there.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import polars as pl

LOOKUPS, FLOWS = "dns_lookups", "flows"
MAX_CLIENTS = 256
"""Different clients of one file that are kept."""
DNS_PORT = 53

NAMING_COLUMNS = {
    FLOWS: ["destination_port"],
    LOOKUPS: [
        "rcode", "is_response", "query_type", "answers", "client_address", "client_pod_name",
    ],
}  # fmt: skip
"""Columns that are looked at, by table."""

_NODE_LOCAL = ("169.254.", "fe80:", "127.")


@dataclass
class NamingFacts:
    """Counts over the rows of one or more files.

    Attributes:
        counts: Rows by fact: `lookups`, `responses` and `noerror` among them, `a_responses` and
            `a_noerror` of type A, `with_answers` (a list, also an empty one), `with_addresses`,
            `with_client`, `with_pod`; `dns_flows` are flows to port 53.
        clients: Different client addresses; none where there are more than `MAX_CLIENTS`.
    """

    counts: Counter[str] = field(default_factory=Counter)
    clients: set[str] | None = field(default_factory=set)

    def add(self, table: str, frame: pl.DataFrame) -> None:
        """Count the rows of a table; other tables than look-ups and flows say nothing."""
        if table == FLOWS:
            flows = frame["destination_port"] == DNS_PORT
            self.counts["dns_flows"] += int(flows.sum())
        if table != LOOKUPS or frame.is_empty():
            return
        is_ok, is_a = pl.col("rcode").eq("NOERROR").fill_null(value=False), _is_type_a()
        found = frame.select(
            lookups=pl.len(),
            responses=pl.col("is_response").sum(),
            noerror=is_ok.sum(),
            a_responses=(pl.col("is_response") & is_a).sum(),
            a_noerror=(is_ok & is_a).sum(),
            with_answers=pl.col("answers").is_not_null().sum(),
            with_addresses=_has_address().sum(),
            with_client=(
                pl.col("client_address").is_not_null() | pl.col("client_pod_name").is_not_null()
            ).sum(),
            with_pod=pl.col("client_pod_name").is_not_null().sum(),
        )
        self.counts.update({k: int(v) for k, v in found.row(0, named=True).items()})
        self._add_clients(frame["client_address"].drop_nulls().unique().to_list())

    def _add_clients(self, addresses: Iterable[str]) -> None:
        if self.clients is not None:
            self.clients.update(addresses)
            if len(self.clients) > MAX_CLIENTS:
                self.clients = None

    def texts(self) -> list[str]:
        """The counts as the ledger keeps them, `fact=count`."""
        return [f"{name}={count}" for name, count in sorted(self.counts.items()) if count]

    def addresses(self) -> list[str] | None:
        """The clients as the ledger keeps them."""
        return None if self.clients is None else sorted(self.clients)

    def add_texts(self, texts: Iterable[str], addresses: Iterable[str] | None) -> None:
        """Add what the ledger keeps of a file."""
        for text in texts:
            name, _, count = text.partition("=")
            self.counts[name] += int(count)
        if addresses is None:
            self.clients = None
        else:
            self._add_clients(addresses)

    def notes(self, node_addresses: Collection[str] = ()) -> list[str]:
        """What the rows cannot tell, each `word: fact`, in a fixed order.

        Args:
            node_addresses: Addresses known as those of nodes, which their host-network pods share.
        """
        counts = self.counts
        lookups, responses = counts["lookups"], counts["responses"]
        if not lookups:
            flows = counts["dns_flows"]
            return [_NO_EVENTS.format(flows)] if flows else []
        found = []
        if not responses:
            found.append(f"no_responses: {lookups} look-up(s), none with a response")
        elif not counts["noerror"]:
            found.append(
                f"only_failures: {responses} response(s), none NOERROR; successes are left out "
                "(`class denial error`), or there were none?"
            )
        elif counts["a_responses"] and not counts["a_noerror"]:
            found.append(
                f"only_failures: {counts['a_responses']} response(s) of type A, none NOERROR; "
                "successes are left out (`class denial error`), or there were none?"
            )
        if not counts["with_answers"]:
            found.append(
                f"no_answers: {lookups} look-up(s), none with answers; they bind no name to an "
                "address"
            )
        elif counts["noerror"] and not counts["with_addresses"]:
            found.append(f"no_addresses: {lookups} look-up(s), none answered with an address")
        return found + self._client_notes(frozenset(node_addresses))

    def _client_notes(self, node_addresses: frozenset[str]) -> list[str]:
        lookups, clients = self.counts["lookups"], self.clients
        if not self.counts["with_client"]:
            return [f"no_clients: {lookups} look-up(s), none with a client"]
        if not clients or self.counts["with_pod"]:
            return []
        if all(is_node_local(address) or address in node_addresses for address in clients):
            of_nodes = f"all of {len(clients)} client address(es) link-local, loopback or a node's"
            cause = "a node-local cache asks for the pods?"
            return [f"node_clients: {lookups} look-up(s), {of_nodes}; {cause}"]
        return []


def is_node_local(address: str) -> bool:
    """Whether an address has a meaning on its own node only."""
    return address == "::1" or address.startswith(_NODE_LOCAL)


def no_lookups_note(record_count: int) -> str:
    """Note on files of query logs that hold none, by the number of their records that were read."""
    return (
        f"no_lookups: {record_count} record(s) read, none gives a look-up; look-ups are not "
        "exported (CoreDNS without `log`, NetObserv without DNS tracking)?"
    )


_NO_EVENTS = (
    "no_dns_events: {} flow(s) to port 53, no look-up; no policy sends DNS through Hubble's proxy, "
    "or the export leaves its events out?"
)


def _is_type_a() -> pl.Expr:
    return pl.col("query_type").eq("A").fill_null(value=False)


def _has_address() -> pl.Expr:
    answer = pl.element().struct
    is_address = answer.field("type").is_in(["A", "AAAA"]) & answer.field("data").is_not_null()
    return pl.col("answers").list.eval(is_address).list.any().fill_null(value=False)
