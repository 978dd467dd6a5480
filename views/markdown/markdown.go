// Package markdown turns what a model or a tool wrote into safe HTML.
package markdown
