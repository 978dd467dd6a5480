// Package telemetry tells monitoring what the program does: metrics in the form
// of Prometheus, and traces by OpenTelemetry. It stands at the seams, as
// decorators of models, tools and stores, so that what it watches knows nothing
// of it. Neither says what was said: contents leave the program only where the
// operator asks for it.
package telemetry
