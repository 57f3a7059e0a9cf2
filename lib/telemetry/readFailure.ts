/** A telemetry database that cannot be read: which one, why, and what to do. Never with a password. */
export class TelemetryUnreadableError extends Error {
  override readonly name = 'TelemetryUnreadableError';
  readonly code = 'telemetry_unreadable';
}
