package tools

import (
	"path"
	"slices"
	"strings"
)

// Names that hold keys, passwords or tokens. Files of these names are never
// read, written or searched by a tool: the model's context is no place for a
// secret. They are compared in lower case.
//
// This keeps a model from reading a secret without meaning to. It is no wall: a
// command may read these files like any other of its workspace, copy them, and
// make a hard link to them under another name, which is a file like any other.
var (
	sensitiveFiles = []string{
		".env", ".env.*", ".envrc",
		"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
		"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
		".netrc", "_netrc", ".git-credentials", ".pgpass", ".my.cnf", ".npmrc", ".pypirc",
		".htpasswd", ".dockercfg", ".vault-token", ".boto", ".s3cfg", "kubeconfig",
		"credentials", "credentials.*", "client_secret*.json", "service-account*.json", "service_account*.json",
		"secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml",
	}
	sensitiveFolders = []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud", ".password-store"}
	// Templates of environment files hold no secret, and are how a project
	// says what it needs.
	harmlessFiles = []string{".env.example", ".env.sample", ".env.template", ".env.dist"}
)

// sensitiveName finds the part of a path for which it is refused; empty: none.
func sensitiveName(name string) string {
	parts := strings.Split(strings.ToLower(name), "/")
	for _, part := range parts {
		if slices.Contains(sensitiveFolders, part) {
			return part
		}
	}
	last := parts[len(parts)-1]
	if slices.Contains(harmlessFiles, last) {
		return ""
	}
	for _, pattern := range sensitiveFiles {
		if ok, _ := path.Match(pattern, last); ok { // the patterns are constants: none is bad
			return last
		}
	}
	return ""
}

// systemFolders are never reached, whatever folders the configuration adds.
var systemFolders = []string{"/proc", "/sys", "/dev"}

// below reports whether path is folder or lies in it. Both are clean.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
