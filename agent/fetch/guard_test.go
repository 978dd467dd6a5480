package fetch

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestEverySpellingOfAnInternalAddressIsRefused(t *testing.T) {
	for _, address := range []string{
		"http://127.0.0.1/", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/",
		"http://0177.0.0.1/", "http://017700000001/", "http://127.0.0.0x1/", "http://127.0.0.1./", "http://127.0.0.01/", "http://0/", "http://0.0.0.0/",
		"http://00.0.0.0/", "http://127.255.255.254/", "http://127.0.0.1:80/", "http://１２７．０．０．１/", "http://127。0。0。1/", "http://①②⑦.0.0.1/",
		"http://4294967297/", "http://0x100000001/", "http://127.0.0.1%2f/", "http://127.0.0.1%00/", "http://%31%32%37.0.0.1/",
		"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/",
		"http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::a00:1]/", "http://[64:ff9b:1::1]/",
		"http://[2002:7f00:1::]/", "http://[2001:0:1::1]/", "http://[fe80::1%25lo]/", "http://[fe80::1%25eth0]/", "http://[fe80::1]/", "http://[fc00::1]/",
		"http://[fd00:ec2::254]/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[100::1]/", "http://[5f00::1]/",
		"http://10.0.0.1/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://100.64.0.1/", "http://100.100.100.200/",
		"http://169.254.169.254/latest/meta-data/", "http://169.254.170.2/", "http://2852039166/", "http://168.63.129.16/", "http://192.0.0.192/",
		"http://198.18.0.1/", "http://192.0.2.1/", "http://224.0.0.1/", "http://239.255.255.250/", "http://240.0.0.1/", "http://255.255.255.255/",
		"http://localhost/", "http://LOCALHOST./", "http://localhost:8080/", "http://a.localhost/", "http://printer.local/", "http://metadata.google.internal/",
		"http://localhost.localdomain/", "http://ip6-loopback/", "http://ｌｏｃａｌｈｏｓｔ/", "http://x.home.arpa/",
		"http://user@example.org/", "http://user:pass@example.org/", "http://example.org@127.0.0.1/", "http://127.0.0.1#@example.org/",
		"http://example.org\\@127.0.0.1/", "http:\\\\127.0.0.1/", "http:///127.0.0.1/", "http:127.0.0.1", "//127.0.0.1/",
		"ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)", "data:text/html,x", "example.org", "", "http://", "http://./",
		"http://example.org:25/", "https://example.org:22", "http://example.org:0/", "http://8.8.8.8:6667/", "http://example.org:0025/", "http://example.org:99999/",
		"http://exa mple.org/", "http://example.org\r\nX: y/", "http://[::1/", "http://" + strings.Repeat("a", 9000),
	} {
		if u, err := (guard{}).address(address); err == nil {
			t.Errorf("%s is fetched from %s", address, u)
		} else if why := Refused(""); !errors.As(err, &why) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWhatIsPublicIsFetchedPlainly(t *testing.T) {
	for address, plain := range map[string]string{
		"https://example.org":                    "https://example.org",
		"HTTPS://Example.ORG./a?b=c#d":           "https://example.org/a?b=c",
		" http://8.8.8.8:8080/x ":                "http://8.8.8.8:8080/x",
		"http://[2606:4700::1111]:80/":           "http://[2606:4700::1111]:80/",
		"http://[::ffff:8.8.8.8]/":               "http://8.8.8.8/",
		"http://[64:ff9b::8.8.8.8]/":             "http://[64:ff9b::808:808]/",
		"https://bücher.example/ü":               "https://xn--bcher-kva.example/%C3%BC",
		"https://my_host.example.org/":           "https://my_host.example.org/",
		"https://1.1.1.1.example.org/":           "https://1.1.1.1.example.org/",
		"https://notlocalhost/":                  "https://notlocalhost/",
		"https://xn--bcher-kva.example:8443/?q=": "https://xn--bcher-kva.example:8443/?q=",
	} {
		if u, err := (guard{}).address(address); err != nil || u.String() != plain {
			t.Errorf("%s is fetched from %v, %v; want %s", address, u, err, plain)
		}
	}
}

func TestTheConfigurationAllowsWhatItNames(t *testing.T) {
	g, err := newGuard([]string{"Wiki.Localhost.", "10.1.0.0/16", "::1", "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for address, allowed := range map[string]bool{
		"http://wiki.localhost/": true, "http://10.1.2.3/": true, "http://[::1]:80/": true, "http://127.0.0.1/": true, "http://127.0.0.1:25/": true, "http://wiki.localhost:22/": true, "http://10.1.2.3:99999/": false, "http://[::ffff:10.1.0.1]/": true,
		"http://other.localhost/": false, "http://10.2.0.1/": false, "http://127.0.0.2/": false, "http://a.wiki.localhost/": false, "http://2130706433/": false,
	} {
		if _, err := g.address(address); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, entry := range []string{"", "10.0.0.0/33", "http://x", "a b", "1.2.3", "*.example.org", "x/8"} {
		if CheckAllowed(entry) == nil {
			t.Errorf("%q may be allowed", entry)
		}
	}
}

// What the guard lets through is a name, or a public address, and is read the
// same way by whoever reads it again.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"http://example.org/", "http://127.1", "http://[::ffff:1.2.3.4]:80/", "https://１.2.3.4/", "http://a%41.org", "http://0x7f.1/", "http://a@b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		u, err := (guard{}).address(written)
		if err != nil {
			return
		}
		host := u.Hostname()
		if u.User != nil || (u.Scheme != "http" && u.Scheme != "https") || host == "" || host != strings.ToLower(host) {
			t.Fatalf("%q is fetched from %q", written, u)
		}
		if addr, err := netip.ParseAddr(host); err == nil && isInternal(addr) {
			t.Fatalf("%q is fetched from the internal %s", written, addr)
		} else if err != nil && numeric(host[strings.LastIndexByte(host, '.')+1:]) {
			t.Fatalf("%q is fetched from the number %s", written, host)
		}
		again, err := (guard{}).address(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q is fetched from %q, which is read as %v, %v", written, u, again, err)
		}
	})
}
