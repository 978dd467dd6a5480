// Package views turns view models into HTML. A view model holds only what is
// shown; handlers fill it, and nothing here knows how anything is stored.
//
// Components are templ functions. Each of them finds the frame of the request
// (base path, language, form token) in its context: put it there once with
// With. Every text comes from the catalogue in views/i18n.
package views
