-- Parts of the JSON records of a text, as they stand there; nothing is judged here.
--
-- Grain: one line, in order.
-- Reads: the text $path, one JSON object per line and no blank line. A line that is no JSON object,
--   or in which a declared object or list is something else, or a declared key stands twice, ends
--   the query with an error.
-- Parameters: $path; $columns: the parts by name, each JSON, or objects and lists of such.
SELECT *
FROM
    READ_NDJSON(
        $path,
        compression = 'none',
        ignore_errors = false,
        maximum_object_size = 4194304,
        columns = $columns
    )
