"""Tables in cloud storage: paths such as ``s3://bucket/layouts.parquet`` go to Polars as they are."""

import functools
import re
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from carouseval.errors import DataError
from carouseval.tables.files import TableFile, first_line, is_panic
from carouseval.tables.kinds import kind_of, supported_files

_AWS = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION (and AWS_ENDPOINT_URL for a store other than AWS)"
_GOOGLE = "GOOGLE_APPLICATION_CREDENTIALS"
_AZURE = "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"
_CREDENTIALS = {
    **dict.fromkeys(("s3", "s3a"), _AWS),
    **dict.fromkeys(("gs", "gcs"), _GOOGLE),
    **dict.fromkeys(("az", "azure", "adl", "abfs", "abfss"), _AZURE),
    "hf": "HF_TOKEN",
    **dict.fromkeys(("http", "https"), ""),
}  # the environment variables that each scheme needs
_URL = re.compile(rf"({'|'.join(_CREDENTIALS)}):/+(?=[^/])", re.IGNORECASE)
# a wrong address should fail soon; while reading, Polars' own many retries apply
_FIRST_CONTACT: dict[str, Any] = {"max_retries": 1, "timeout": "10s", "connect_timeout": "5s"}


def cloud_url(path: object) -> str | None:
    """The address in cloud storage that a path is, if it is one; a ``Path`` has lost one of its slashes.

    >>> cloud_url("s3://bucket/layouts/*.parquet"), cloud_url(PurePosixPath("gs://b/l.csv")), cloud_url("layouts/a.csv")
    ('s3://bucket/layouts/*.parquet', 'gs://b/l.csv', None)
    """
    match = _URL.match(str(path))
    return None if match is None else f"{match[1]}://{str(path)[match.end() :]}"


class CloudFile(TableFile):
    """A file in cloud storage, or a pattern of files."""

    @functools.cached_property
    def records(self) -> pl.LazyFrame:
        return self.kind.scan_cloud(self.path)

    def where(self, record: int) -> str:
        return f"line {record + 2}" if self.kind.is_text else f"record {record + 1}"

    def check_lines(self) -> None:
        """Lines are not counted: every pass over the file is a download."""

    def check_contents(self, columns: Collection[str]) -> None:
        """Checksums are not computed, for the same reason."""

    def diagnose(self) -> str:
        return ""

    @property
    def remedy(self) -> str:
        variables = _CREDENTIALS[urlsplit(self.path).scheme.lower()]
        return f"{f'Set {variables}; check' if variables else 'Check'} the path and the network."


def open_cloud_file(url: str) -> CloudFile:
    """A file in cloud storage, whose schema is read to see whether it can be reached."""
    kind = kind_of(PurePosixPath(urlsplit(url).path))
    if kind is None:
        folder = f"{url.rstrip('/')}/*.parquet"
        raise DataError(f"{url}: unknown file type. {supported_files()}. If it is a folder, write {folder}.")
    file = CloudFile(url, kind)
    try:
        kind.scan_cloud(url, _FIRST_CONTACT).collect_schema()
    except DataError:
        raise
    except BaseException as error:  # whatever the library of a provider raises about credentials
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        raise DataError(f"{url} cannot be read: {first_line(error)}. {file.remedy}") from None
    return file
