import type { SchedulerLike } from 'rxjs';
import type { ResolvedSettings } from '../config/settings.js';
import type { Report } from '../model/events.js';
import { batched } from '../telemetry/delivery.js';
import { createPostgresSink } from '../telemetry/postgresSink.js';
import { createRecorder } from '../telemetry/recorder.js';
import type { Recorder } from '../telemetry/recorder.js';
import type { Sink } from '../telemetry/sink.js';
import { createSqliteSink } from '../telemetry/sqliteSink.js';
import { parseTelemetryUrl, type TelemetryTarget } from '../telemetry/telemetryUrl.js';

/** Where rows go: to the port, else to the database of the settings, else nowhere. */
export function openRecorder(settings: ResolvedSettings, port: Sink | undefined, report: Report, scheduler: SchedulerLike): Recorder | undefined {
  if (port !== undefined) return createRecorder({ sink: port, report, scheduler });
  if (settings.telemetryUrl === undefined) return undefined;
  const sink = sinkOf(parseTelemetryUrl(settings.telemetryUrl), settings.telemetrySchema);
  return createRecorder({ sink, report, scheduler, delivery: batched });
}

function sinkOf(target: TelemetryTarget, schema: ResolvedSettings['telemetrySchema']): Sink {
  return target.type === 'sqlite' ? createSqliteSink({ file: target.file, schema }) : createPostgresSink({ url: target.url, schema });
}
