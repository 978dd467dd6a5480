package fetch

import "strconv"

// otherPorts are those of services that are not the web, by the list of bad
// ports in the Fetch standard: what speaks another protocol may take a request
// for its own.
var otherPorts = func() map[int]bool {
	ports := map[int]bool{}
	for _, port := range []int{
		0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
		113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554,
		556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666,
		6667, 6668, 6669, 6679, 6697, 10080,
	} {
		ports[port] = true
	}
	return ports
}()

// checkPort refuses a port that is none of the web, unless the configuration
// allows its host; empty: the scheme's own.
func checkPort(written string, allowed bool) error {
	if written == "" {
		return nil
	}
	port, err := strconv.ParseUint(written, 10, 16)
	switch {
	case err != nil:
		return refusef("%s is no port", written)
	case otherPorts[int(port)] && !allowed:
		return refusef("port %d is that of another service than the web", port)
	}
	return nil
}
