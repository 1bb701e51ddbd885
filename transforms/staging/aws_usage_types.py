"""What AWS' usage types of data transfer say: from which region to which.

Source: the Amazon S3 user guide, "Understanding your AWS billing and usage reports", its list of
usage types and region codes. `R1-R2-AWS-Out-Bytes` went from R1 to R2, `R1-R2-AWS-In-Bytes` came to
R1 from R2. A type with one code or none names no second region.
"""

import re
from functools import lru_cache

REGION_CODES = {
    "USE1": "us-east-1", "USE2": "us-east-2", "USW1": "us-west-1", "USW2": "us-west-2",
    "UGW1": "us-gov-west-1", "UGE1": "us-gov-east-1", "CAN1": "ca-central-1",
    "EU": "eu-west-1", "EUW1": "eu-west-1", "EUW2": "eu-west-2", "EUW3": "eu-west-3",
    "EUC1": "eu-central-1", "EUN1": "eu-north-1", "EUS1": "eu-south-1",
    "APN1": "ap-northeast-1", "APN2": "ap-northeast-2", "APN3": "ap-northeast-3",
    "APS1": "ap-southeast-1", "APS2": "ap-southeast-2", "APS3": "ap-south-1",
    "APS4": "ap-southeast-3", "APS5": "ap-south-2", "APS6": "ap-southeast-4", "APE1": "ap-east-1",
    "SAE1": "sa-east-1", "CPT": "af-south-1", "AFS1": "af-south-1", "MEC1": "me-central-1",
    "MES1": "me-south-1",
}  # fmt: skip

_BETWEEN = re.compile(r"([A-Z]{2,4}\d?)-([A-Z]{2,4}\d?)-(?:AWS|S3RTC)-(Out|In)-A?Bytes(?:-T\d)?")
_VOLUME = re.compile(r"(?:.*-)?A?Bytes(?:-T\d)?")


@lru_cache(maxsize=4_096)
def regions_of(usage_type: str) -> tuple[str | None, str | None]:
    """Regions that bytes left and reached; null where the type or a code is not known."""
    match = _BETWEEN.fullmatch(usage_type) if len(usage_type) <= 200 else None
    if match is None:
        return None, None
    first, second = REGION_CODES.get(match[1]), REGION_CODES.get(match[2])
    return (first, second) if match[3] == "Out" else (second, first)


@lru_cache(maxsize=4_096)
def is_volume(usage_type: str) -> bool:
    """Whether a usage type counts bytes that moved."""
    return len(usage_type) <= 200 and _VOLUME.fullmatch(usage_type) is not None
