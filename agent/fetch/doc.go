// Package fetch reads a page of the web for a model: its text, bounded in time
// and size. What is fetched and where it leads is hostile: addresses of this
// machine and of networks that are not the public internet are refused, however
// they are spelled, wherever a redirect or a name leads, at the moment at which
// a connection is opened.
package fetch
