import pytest

from tests.transforms.staging.hubble_events import FLOW, flow_line
from tests.transforms.staging.hubble_variants import COMPACT, DICT, LOGS, TABLE, VARIANTS
from transforms.staging import hubble_text

TEXT_LOGS = [log for log in LOGS if not log.startswith("{")]
OTHER = [
    "", "x", "level", "levels=info x", "I am here", "E0000 not klog", "2026-03-10 10:00:30 x",
    "[1,2]", "[]", flow_line(), "SOURCE=1", "TIMESTAMP", "#!/bin/sh", "---", "`x`", "null", "17",
    "Mar 10 10:00:30 node-1 kernel: x", "[2026-03-10 10:00:30.500] x", "Mar 10",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXT_LOGS)
def test_lines_of_an_agents_log_are_known(text):
    assert hubble_text.is_log(text.encode())
    assert hubble_text.printed_form(text.encode()) is None


@pytest.mark.parametrize(
    ("texts", "form"), [(COMPACT, "compact"), (TABLE, "table"), (DICT, "dict")]
)
def test_printed_events_are_known_by_their_form(texts, form):
    for text in texts:
        assert hubble_text.printed_form(text.encode()) == form, text
        assert not hubble_text.is_log(text.encode())


@pytest.mark.parametrize("text", OTHER)
def test_other_lines_are_neither(text):
    data = text.encode()
    assert not hubble_text.is_log(data)
    assert hubble_text.printed_form(data) is None
    assert not hubble_text.is_markdown(data)


def test_a_log_of_cilium_is_told_from_other_logs_by_its_fields():
    assert hubble_text.is_cilium_log(b"level=info msg=x subsys=daemon")
    assert hubble_text.is_cilium_log(b"time=2026-03-10T10:00:30Z level=info msg=x module=agent")
    assert not hubble_text.is_cilium_log(b"level=info msg=x component=compactor")


@pytest.mark.parametrize(
    ("name", "kind"), [("a sysdump as zip", "zip"), ("a bugtool archive as tar", "tar")]
)
def test_archives_of_cilium_are_known_by_their_members(name, kind):
    found = hubble_text.archive(VARIANTS[name].data)
    assert found is not None
    assert (found.kind, found.is_sysdump) == (kind, True)
    assert "hubble-flows-*.json" in found.reason


def test_other_archives_are_no_sysdump():
    found = hubble_text.archive(b"PK\x03\x04" + b"\0" * 30 + b"readme.txt")
    assert found is not None
    assert not found.is_sysdump
    assert hubble_text.archive(str(FLOW).encode()) is None


@pytest.mark.parametrize(
    "piece", [b"{", b" ", b"level=", b"time=", b'"', b"\\", b": ", b"[", b"-> "]
)
def test_long_lines_are_looked_at_in_bounded_time(piece):
    text = piece * (4 << 20)
    hubble_text.is_log(text)
    hubble_text.is_cilium_log(text)
    hubble_text.printed_form(b"Mar 10 10:00:30: " + text)
    hubble_text.is_markdown(text)
