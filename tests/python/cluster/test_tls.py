"""A scheduler that takes TLS with certificates alone, as docs/cluster.md says."""
import os
import shutil
import subprocess
import unittest
from unittest import mock

from cluster_support import ClusterTest, Link


@unittest.skipUnless(shutil.which("openssl"), "openssl is not here, which makes the certificates")
class TlsTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.address = f"tls://127.0.0.1:{self.port}"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=cluster", "-keyout", "key.pem", "-out", "cert.pem"], cwd=self.folder, check=True,
                       capture_output=True, timeout=60)
        pem = {"ca_file": "cert", "client__cert": "cert", "client__key": "key", "worker__cert": "cert",
               "worker__key": "key", "scheduler__cert": "cert", "scheduler__key": "key"}
        self.settings = {f"DASK_DISTRIBUTED__COMM__TLS__{name.upper()}": str(self.folder / f"{file}.pem")
                         for name, file in pem.items()}

    def test_with_and_without_a_certificate(self):
        self.scheduler(DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME="tls", **self.settings)
        self.worker(2, **self.settings)
        with mock.patch.dict(os.environ, self.settings):
            link = Link(self, self.address)
        link.ready(1)
        self.assertEqual(link.answers([link.submit("quick")])[0]["say"], "done")
        self.assertTrue(link.answered()[0]["where"].startswith("tls://127.0.0.2:"))
        self.assertEqual(link.close(), 0)
        for address in (self.address, self.address.replace("tls", "tcp")):
            stranger = Link(self, address)
            self.assertEqual(stranger.process.wait(100), 3)
            self.assertEqual(stranger.lines, [])
