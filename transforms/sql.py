"""Run `.sql` files in DuckDB with bound values.

A statement stands in a `.sql` file beside the module that runs it, with a header that names grain,
reads and parameters. Values are bound as `$name`; table names are fixed in the text.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import polars as pl

_MACROS = """
CREATE OR REPLACE TEMP MACRO micros(t) AS epoch_us(t);
CREATE OR REPLACE TEMP MACRO id_text(x) AS COALESCE(CAST(x AS VARCHAR), CHR(30));
CREATE OR REPLACE TEMP MACRO id_time(t) AS COALESCE(CAST(epoch_us(t) AS VARCHAR), CHR(30));
CREATE OR REPLACE TEMP MACRO row_id(parts) AS MD5(array_to_string(parts, CHR(31)));
CREATE OR REPLACE TEMP MACRO is_private_address(a) AS regexp_matches(
    a,
    '^(10|127|0)\\.|^192\\.168\\.|^172\\.(1[6-9]|2[0-9]|3[01])\\.|^169\\.254\\.|'
    || '^100\\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\\.|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:|'
    || '^::1?$'
);
CREATE OR REPLACE TEMP MACRO is_public_address(a) AS
    regexp_matches(a, '^([1-9]|[1-9][0-9]|1[0-9][0-9]|2[01][0-9]|22[0-3])\\.|^[23][0-9a-f]{3}:')
    AND NOT is_private_address(a);
CREATE OR REPLACE TEMP MACRO image_registry(registry) AS
    -- Older names of one registry (distribution/reference, normalize.go).
    CASE
        WHEN lower(registry) IN ('index.docker.io', 'registry-1.docker.io') THEN 'docker.io'
        ELSE lower(registry)
    END;
CREATE OR REPLACE TEMP MACRO image_path(image) AS regexp_replace(
    split_part(image, '@', 1), '^([^/]*[.:][^/]*|localhost)/', ''
);
CREATE OR REPLACE TEMP MACRO image_repository(image, registry) AS
    'oci://' || image_registry(registry) || '/'
    || CASE
        WHEN image_registry(registry) = 'docker.io' AND image_path(image) NOT LIKE '%/%'
            THEN 'library/' ELSE ''
    END
    || regexp_replace(image_path(image), ':[^/:]*$', '');
CREATE OR REPLACE TEMP MACRO image_resource(image, registry, digest) AS
    image_repository(image, registry)
    || CASE
        WHEN digest IS NOT NULL THEN '@' || digest
        ELSE ':'
            || coalesce(nullif(regexp_extract(image_path(image), ':([^/:]*)$', 1), ''), 'latest')
    END;
CREATE OR REPLACE TEMP MACRO pull_reason(message) AS
    -- Names, tags and digests of images may hold the words and numbers of any error.
    replace(
        regexp_replace(lower(message), 'https?://[^\\s"]+', '', 'g'),
        regexp_extract(lower(message), 'failed to pull image "([^"]+)"', 1), ''
    );
CREATE OR REPLACE TEMP MACRO pull_error_class(message) AS CASE
    WHEN regexp_matches(
        pull_reason(message), '(^|[\\s=(])429\\b|toomanyrequests|too many requests|rate limit'
    ) THEN 'throttled'
    WHEN regexp_matches(
        pull_reason(message), '(^|[\\s=(])401\\b|unauthorized|authentication required|no basic auth'
    ) THEN 'credentials'
    WHEN regexp_matches(pull_reason(message), 'no space left|disk') THEN 'disk'
    WHEN regexp_matches(
        pull_reason(message),
        'not found|manifest unknown|name unknown|does not exist|(^|[\\s=(])404\\b'
    ) AND NOT regexp_matches(pull_reason(message), 'pull access denied') THEN 'not_found'
    WHEN regexp_matches(pull_reason(message), '(^|[\\s=(])403\\b|forbidden|denied') THEN 'forbidden'
    WHEN regexp_matches(pull_reason(message), 'no such host|server misbehaving')
        THEN 'name_failure'
    WHEN regexp_matches(pull_reason(message), 'time-?out|timed out|deadline exceeded')
        THEN 'timeout'
    WHEN regexp_matches(
        pull_reason(message), 'connection refused|connection reset|unreachable|x509|tls'
    ) THEN 'connection_failure'
    WHEN regexp_matches(
        pull_reason(message), '(^|[\\s=(])50[0-4]\\b|server error|bad gateway|unavailable'
    ) THEN 'server_error'
    ELSE 'other'
END;
CREATE OR REPLACE TEMP MACRO in_64_bits(x) AS
    CAST(x - GREATEST(0, x - 9223372036854775807) AS BIGINT);
CREATE OR REPLACE TEMP MACRO whole_groups(a) AS
    CASE WHEN starts_with(a, '::') THEN '0' ELSE '' END || a
    || CASE WHEN ends_with(a, '::') THEN '0' ELSE '' END;
CREATE OR REPLACE TEMP MACRO address_bits(a) AS CASE
    WHEN regexp_matches(a, '^[0-9]{1,3}(\\.[0-9]{1,3}){3}$') THEN '4' || array_to_string(
        list_transform(
            string_split(a, '.'), LAMBDA o: lpad(bin(TRY_CAST(o AS INTEGER)), 8, '0')
        ), ''
    )
    WHEN regexp_matches(a, '^[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}$') THEN '6' || array_to_string(
        list_transform(
            string_split(
                replace(
                    whole_groups(a), '::',
                    repeat(':0', 9 - len(string_split(whole_groups(a), ':'))) || ':'
                ), ':'
            ), LAMBDA g: lpad(bin(TRY_CAST('0x' || g AS INTEGER)), 16, '0')
        ), ''
    )
END;
"""


class SqlSession:
    """A private in-memory DuckDB database in which a transform works.

    `row_id([id_text(a), id_time(b), …])` gives the ids of definitions.md 11.
    `is_private_address` and `is_public_address` read canonical addresses; neither holds for
    multicast and reserved ones. `address_bits` spells a canonical address as its family and its
    bits, null where it is none. `image_repository` and `image_resource` name an image as people
    read it: `oci://registry/repository`, and the digest, else the tag, behind it.
    `pull_error_class` says of what kind the failure of a pull is, by its message. `in_64_bits` ends
    sums at the largest number of a column.
    """

    def __init__(
        self,
        *,
        threads: int = 2,
        memory_limit: str | None = None,
        temp_directory: Path | None = None,
    ) -> None:
        """Open the database.

        Args:
            threads: Threads of the engine.
            memory_limit: Limit such as `2GB`; the engine's default if none.
            temp_directory: Where it spills; nowhere if none.
        """
        self.connection = duckdb.connect()
        run = self.connection.execute
        run("SET TimeZone = 'UTC'")
        # A long statement would draw a bar over the output of a command.
        run("SET enable_progress_bar = false")
        run("SET autoinstall_known_extensions = false")
        run("SET autoload_known_extensions = false")
        run(f"SET threads = {int(threads)}")
        if memory_limit is not None:
            run("SET memory_limit = $limit", {"limit": memory_limit})
        # Unless told, the engine would spill into a folder of the working directory.
        run("SET temp_directory = $folder", {"folder": str(temp_directory or "")})
        run(_MACROS)
        self._views: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> Self:
        """Use the session in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the database."""
        self.connection.close()

    def register(self, name: str, frame: pl.DataFrame) -> None:
        """Show a frame as a table of that name."""
        self.connection.register(name, frame.to_arrow(compat_level=pl.CompatLevel.oldest()))

    def create(
        self, name: str, package: str, file: str, values: Mapping[str, Any] | None = None
    ) -> str:
        """Make a temporary table from one `.sql` file.

        Args:
            name: Name of the table, fixed in code.
            package: Package that holds the file, such as `transforms.intermediate`.
            file: File name without `.sql`.
            values: Bound values by `$name`; ones that the text does not name are left out.

        Returns:
            The name.
        """
        text = statement(package, file)
        bound = {k: v for k, v in (values or {}).items() if f"${k}" in text}
        self.connection.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS\n{text}', bound)
        return name

    def insert(
        self, name: str, package: str, file: str, values: Mapping[str, Any] | None = None
    ) -> str:
        """Append the rows of one `.sql` file to a temporary table; as `create` else."""
        self.query(package, file, values, before=f'INSERT INTO "{name}"\n')
        return name

    def query(
        self,
        package: str,
        file: str,
        values: Mapping[str, Any] | None = None,
        *,
        before: str = "",
    ) -> duckdb.DuckDBPyConnection:
        """Run one `.sql` file and give its result.

        Args:
            package: Package that holds the file.
            file: File name without `.sql`.
            values: Bound values by `$name`; ones that the text does not name are left out.
            before: What stands in front of the text.
        """
        text = statement(package, file)
        bound = {k: v for k, v in (values or {}).items() if f"${k}" in text}
        return self.connection.execute(before + text, bound)

    def create_view(self, name: str, package: str, file: str, over: tuple[str, ...] = ()) -> str:
        """Make a temporary view of one `.sql` file, for rows that nobody needs to hold.

        Args:
            name: Name of the view, fixed in code.
            package: Package that holds the file.
            file: File name without `.sql`; it binds no values.
            over: Helper tables and views that live as long as the view and are dropped with it.

        Returns:
            The name.
        """
        self.connection.execute(
            f'CREATE OR REPLACE TEMP VIEW "{name}" AS\n{statement(package, file)}'
        )
        self._views[name] = over
        return name

    def create_in_slices(
        self, name: str, package: str, file: str, values: Mapping[str, Any], slices: int
    ) -> str:
        """Make a temporary table from one `.sql` file, slice by slice.

        For groups whose sums hold texts, which the engine cannot spill: only one slice of the
        groups is summed at a time. The text chooses the rows of slice `$slice` of `$slices`.

        Args:
            name: Name of the table, fixed in code.
            package: Package that holds the file.
            file: File name without `.sql`.
            values: Bound values by `$name`.
            slices: How many; at least one.

        Returns:
            The name.
        """
        self.create(name, package, file, {**values, "slice": 0, "slices": slices})
        text = statement(package, file)
        for number in range(1, slices):
            bound = {**values, "slice": number, "slices": slices}
            self.connection.execute(
                f'INSERT INTO "{name}"\n{text}', {k: v for k, v in bound.items() if f"${k}" in text}
            )
        return name

    def frame(self, name: str) -> pl.DataFrame:
        """The rows of a table as a frame."""
        frame: pl.DataFrame = self.connection.table(name).pl()
        return frame

    @contextmanager
    def dropped(self, *names: str) -> Iterator[None]:
        """Drop helper tables and views when the block ends, so that they hold no memory."""
        try:
            yield
        finally:
            for name in names:
                self._drop(name)

    def _drop(self, name: str) -> None:
        over = self._views.pop(name, None)
        kind = "TABLE" if over is None else "VIEW"
        self.connection.execute(f'DROP {kind} IF EXISTS "{name}"')
        for helper in over or ():
            self._drop(helper)


def statement(package: str, file: str) -> str:
    """Text of one `.sql` file, without a final semicolon."""
    text = files(package).joinpath(f"{file}.sql").read_text(encoding="utf-8")
    return text.strip().removesuffix(";")
