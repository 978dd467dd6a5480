package fetch

import (
	"net"
	"net/netip"
	"slices"
)

// notPublic are the networks of IPv4 that are not the public internet, by
// IANA's registry of special purposes, and one address that a cloud keeps for
// itself outside of them.
var notPublic = networks(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carriers' NAT; Alibaba's metadata are in it
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // Azure's services of a virtual machine
	"169.254.0.0/16",   // link-local: metadata of most clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments; Oracle's metadata are in it
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // relays of 6to4
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
)

// public6 is what of IPv6 is given out at all, and notPublic6 what of it is
// not the public internet.
var (
	public6    = netip.MustParsePrefix("2000::/3")
	notPublic6 = networks(
		"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4: any address of IPv4
		"3fff::/20",     // documentation
	)
	// nat64 holds the public addresses of IPv4 in its last four bytes.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func networks(written ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range written {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// isInternal reports whether an address is not one of the public internet, or
// is one of this machine's own.
func isInternal(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return true
	}
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	special := notPublic
	if addr.Is6() {
		if special = notPublic6; !public6.Contains(addr) {
			return true
		}
	}
	return slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) }) || isOwn(addr)
}

// isOwn: the address is one of this machine's. What it serves to others at a
// public address passes no firewall when it is asked from within.
func isOwn(addr netip.Addr) bool {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return false // they cannot be listed: the networks above still hold
	}
	return slices.ContainsFunc(interfaces, func(a net.Addr) bool {
		own, err := netip.ParsePrefix(a.String())
		return err == nil && own.Addr().Unmap().WithZone("") == addr
	})
}
