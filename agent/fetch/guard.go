package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/net/idna"
)

// maxAddress bounds an address, in bytes.
const maxAddress = 8 << 10

// maxName bounds the name of a host, in bytes, as the DNS does.
const maxName = 253

// Refused is why something is not fetched, as a sentence for the model.
type Refused string

func (r Refused) Error() string { return string(r) }

func refusef(format string, args ...any) error { return Refused(fmt.Sprintf(format, args...)) }

const (
	whyInternal = "it leads to this server or to a network that is not the public internet, which is not allowed here"
	whySpelling = "its host is a number in an unusual spelling; write an address as four decimal numbers"
)

// A guard says what may be reached.
type guard struct {
	hosts    []string // as hostOf writes them
	networks []netip.Prefix
}

// newGuard reads what the configuration allows beside the public internet:
// names of hosts, addresses, and networks.
func newGuard(allow []string) (guard, error) {
	var g guard
	for _, entry := range allow {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			g.networks = append(g.networks, prefix.Masked())
			continue
		}
		host, err := hostOf(entry)
		if err != nil {
			return g, fmt.Errorf("%q is neither a host nor a network", entry)
		}
		if addr, err := netip.ParseAddr(host); err == nil {
			g.networks = append(g.networks, netip.PrefixFrom(addr, addr.BitLen()))
		} else {
			g.hosts = append(g.hosts, host)
		}
	}
	return g, nil
}

// CheckAllowed refuses an entry of the list of what may be fetched that is
// neither a host nor a network.
func CheckAllowed(entry string) error {
	_, err := newGuard([]string{entry})
	return err
}

// address reads an address as a model or a server wrote it, and refuses what is
// never fetched. The host of what it returns is written plainly, so that what
// is checked and what is dialled are the same.
func (g guard) address(written string) (*url.URL, error) {
	written = strings.TrimSpace(written)
	if len(written) > maxAddress {
		return nil, refusef("the address has more than %d bytes", maxAddress)
	}
	if strings.ContainsFunc(written, unicode.IsControl) || strings.Contains(written, `\`) {
		return nil, refusef("the address holds control characters or a backslash")
	}
	u, err := url.Parse(written)
	switch {
	case err != nil:
		return nil, refusef("it is no address of the web, such as https://example.org/page")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refusef("only http:// and https:// are fetched")
	case u.User != nil:
		return nil, refusef("an address with a user name or password in it is not fetched")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, refusef("the address names no host")
	}
	host, err := hostOf(u.Hostname())
	if err != nil {
		return nil, err
	}
	if err := g.checkHost(host); err != nil {
		return nil, err
	}
	port := u.Port()
	if err := checkPort(port, g.named(host)); err != nil {
		return nil, err
	}
	if u.Host = host; strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != "" {
		u.Host += ":" + port
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// hostOf writes a host plainly: names in small ASCII letters, without a dot at
// the end, addresses as netip does.
func hostOf(written string) (string, error) {
	if strings.ContainsAny(written, "%/") {
		return "", refusef("its host has a zone or is no host")
	}
	if addr, err := netip.ParseAddr(written); err == nil {
		return addr.Unmap().String(), nil
	}
	name := written
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		var err error
		// Wide digits and dots are folded into plain ones.
		if name, err = idna.Lookup.ToASCII(written); err != nil {
			return "", refusef("its host is no name of a host")
		}
	}
	name = strings.TrimRight(strings.ToLower(name), ".")
	if len(name) > maxName {
		return "", refusef("its host is no name of a host")
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_' {
			return "", refusef("its host is no name of a host")
		}
	}
	if name == "" {
		return "", refusef("the address names no host")
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().String(), nil
	}
	if numeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", refusef("%s", whySpelling)
	}
	return name, nil
}

// numeric: browsers and resolvers read a name that ends so as an address of
// IPv4, in decimal, octal or hexadecimal, of one to four parts.
func numeric(label string) bool {
	if label == "" {
		return false
	}
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// localNames end the names of hosts that are never on the public internet.
var localNames = []string{"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "ip6-localhost", "ip6-loopback"}

// named: the configuration allows the host itself, or its address.
func (g guard) named(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return slices.ContainsFunc(g.networks, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
	return slices.Contains(g.hosts, host)
}

// checkHost refuses what is known without asking anybody. What a name leads to
// is checked when it is dialled.
func (g guard) checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.checkAddr(addr)
	}
	if slices.Contains(g.hosts, host) {
		return nil
	}
	for _, local := range localNames {
		if host == local || strings.HasSuffix(host, "."+local) {
			return refusef("%s", whyInternal)
		}
	}
	return nil
}

func (g guard) checkAddr(addr netip.Addr) error {
	if slices.ContainsFunc(g.networks, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) }) || !isInternal(addr) {
		return nil
	}
	return refusef("%s", whyInternal)
}

// control is asked by the dialler about each address that it is about to
// connect to, after the name was resolved: nothing can change it any more.
func (g guard) control(host string) func(network, address string, _ syscall.RawConn) error {
	allowed := slices.Contains(g.hosts, host)
	return func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return refusef("%s", whyInternal)
		}
		if allowed {
			return nil
		}
		return g.checkAddr(at.Addr())
	}
}

// dialHost is the host of what a transport dials.
func dialHost(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
