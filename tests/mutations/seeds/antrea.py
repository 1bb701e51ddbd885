"""Antrea's aggregator: reports of several releases, and lines of the flow logger."""

_COUNTS = "900,1000000,300,400000,500,26000,100,5200"
_POLICIES = "let-in,data,r1,1,1,stay,ml,r2,0,0"
_LABELS = """'{"app":"train","run":"1"}','{"app":"store"}'"""
_RATES = "53333,693,53333,53334,693,694"
_TAIL = "0f5d3a52-0000-4000-8000-000000000001,1773111721"


def _report(
    ends: str = "192.0.2.71,192.0.2.80,44752,5201,6",
    service: str = "198.51.100.10,5202,store",
    state: str = "ESTABLISHED",
    more: str = ",out,203.0.113.44,n7",
    second: int = 1_773_111_719,
) -> str:
    return (
        f"1773111600,{second},{second},{second - 1},2,{ends},{_COUNTS},"
        f"train-0,ml,n1,store-0,data,n2,{service},{_POLICIES},{state},2,{_LABELS},{_RATES},"
        f"{_TAIL}{more}"
    )


_REPORTS = [
    _report(),
    _report(second=1_773_111_779),
    _report(ends="2001:db8::71,2001:db8::80,44752,5201,17", state=""),
    _report(service="198.51.100.10,203.0.113.5,5202,store"),
    _report(service=",0,", more=""),
    _report(more=""",out,203.0.113.44,http,{"0":{"method":"GET","url":"/a,b"}},n7"""),
]
_LOGGED = [
    f"1773111600,{second},192.0.2.71,192.0.2.80,44752,5201,TCP,train-0,ml,n1,store-0,data,n2,"
    "198.51.100.10,5202,store,let-in,data,r1,Allow,K8sNetworkPolicy,,,,,,,,"
    for second in range(1_773_111_719, 1_773_111_723)
]

FILES: tuple[bytes, ...] = (
    "".join(f"{line}\n" for line in _REPORTS).encode(),
    "".join(f"{line}\n" for line in _LOGGED).encode(),
)
