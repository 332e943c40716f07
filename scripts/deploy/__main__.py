"""Checks the files of deploy/, and the workflows and scripts of a release.

Kubernetes manifests are compared with their schemas, with each other and with the server's settings, and the Helm chart with
them; each reverse proxy sample runs in front of a server; dashboard and alerts are compared with the metrics of a server.
Workflows are linted, and the scripts that they run are tried.
"""

import argparse
import sys
from pathlib import Path

import charts
import clusters
import manifests
import monitoring
import proxies
import releases

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=Path, required=True, help="the darkroom executable")
    server = parser.parse_args().server.resolve()
    failures = 0
    deploy = ROOT / "deploy"
    for name, check in [
        *manifests.checks(deploy / "kubernetes"), *charts.checks(deploy), *monitoring.checks(deploy), *proxies.checks(deploy),
        *clusters.checks(deploy), *releases.checks(),
    ]:
        try:
            check(server)
            print(f"ok      {name}", flush=True)
        except Exception as error:
            failures += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
