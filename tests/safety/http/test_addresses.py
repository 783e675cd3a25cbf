"""Public addresses, and accepted notations of a host."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.http.addresses import METADATA, AllowedHost, is_public, may_connect, read_host
from tests.support.for_each import for_each

PRIVATE = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:4700::1", "2a00:1450::1"]


@for_each("text", PRIVATE)
def test_addresses_outside_the_public_internet_are_recognised(text: str) -> None:
    assert not is_public(ip_address(text))
    assert not may_connect(ip_address(text), ())


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are_recognised(text: str) -> None:
    assert is_public(ip_address(text))


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_no_address_that_the_standard_library_calls_private_is_public(
    address: IPv4Address | IPv6Address,
) -> None:
    if is_public(address):
        assert address.is_global
        assert not address.is_multicast


def test_a_network_configured_by_the_operator_is_allowed() -> None:
    allowed = frozenset({ip_network("10.1.0.0/16")})
    assert may_connect(ip_address("10.1.2.3"), allowed)
    assert not may_connect(ip_address("10.2.2.3"), allowed)
    assert not may_connect(ip_address("::ffff:10.1.2.3"), allowed)


@for_each("address", METADATA)
def test_metadata_services_are_never_allowed(address: IPv4Address | IPv6Address) -> None:
    everything = (ip_network("0.0.0.0/0"), ip_network("::/0"))
    assert not may_connect(address, everything)


@for_each(
    "host",
    [
        "",
        ".",
        "..",
        "a..b",
        "-a.org",
        "a-.org",
        "exa mple.org",
        "user@example.org",
        "example.org%00",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "127.1",
        "127.0.1",
        "127.0.0.0x1",
        "1.2.3.4.5",
        "256.1.1.1",
        "example.0x1",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "exämple.org",
        "fe80::1%eth0",
        "::1%1",
        "::g",
        "1:2:3",
        "a" * 64 + ".org",
        "a." * 130 + "org",
    ],
)
def test_unusual_spellings_are_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"is|holds|names"):
        read_host(host)


@pytest.mark.parametrize(
    ("host", "name", "address"),
    [
        ("Example.ORG.", "example.org", None),
        ("xn--exmple-cua.org", "xn--exmple-cua.org", None),
        ("_srv.example.org", "_srv.example.org", None),
        ("127.0.0.1", "127.0.0.1", IPv4Address("127.0.0.1")),
        ("127.0.0.1.", "127.0.0.1", IPv4Address("127.0.0.1")),
        ("0:0:0:0:0:0:0:1", "::1", IPv6Address("::1")),
        ("::FFFF:127.0.0.1", str(IPv6Address("::ffff:7f00:1")), IPv6Address("::ffff:7f00:1")),
    ],
)
def test_a_host_has_one_normal_form(host: str, name: str, address: object) -> None:
    assert read_host(host) == (name, address)


@for_each(
    ("rule", "host", "port", "covered"),
    [
        ("docs.example.org", "docs.example.org", 443, True),
        ("Docs.Example.org", "docs.example.org", 80, True),
        ("docs.example.org", "docs.example.org", 8080, False),
        ("docs.example.org", "a.docs.example.org", 443, False),
        ("*.example.org", "docs.example.org", 443, True),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "badexample.org", 443, False),
        ("docs.example.org:8443", "docs.example.org", 8443, True),
        ("docs.example.org:8443", "docs.example.org", 443, False),
        ("10.1.2.3:8080", "10.1.2.3", 8080, True),
        ("[fd00::1]:8080", "fd00::1", 8080, True),
    ],
)
def test_a_rule_matches_its_host_and_ports(rule: str, host: str, port: int, covered: bool) -> None:
    assert AllowedHost.parse(rule).covers(host, port) is covered


@for_each(
    "text",
    ["", "*", "*.", "*.org", "https://example.org", "example.org/x", "a@b.org", "a.org:0",
     "a.org:99999", "*.10.0.0.1", "exämple.org", "[::1", "[fe80::1%1]"],
)  # fmt: skip
def test_an_invalid_rule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"should|names|is|holds"):
        AllowedHost.parse(text)
