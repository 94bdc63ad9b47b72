/** `fairloom/tracing`: spans for OpenTelemetry, for `new Fairloom({ tracer })`. */

export { type OpenTelemetryOptions, openTelemetry } from './tracing/open-telemetry.ts';
