import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { MetricFamily } from './prometheusText.js';

export interface ProcessMetrics {
  families(this: void): MetricFamily[];
  close(this: void): void;
}

const nsPerS = 1e9;
const usPerS = 1e6;

/** Memory, processor time and event loop of this process. */
export function createProcessMetrics(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const quantile = (share: number): number => delay.percentile(share * 100) / nsPerS;

  return {
    families() {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const delays = [0.5, 0.99, 1].map((share) => ({ labels: { quantile: String(share) }, value: quantile(share) }));
      delay.reset();
      return [
        single('gauge', 'polygateway_process_resident_memory_bytes', 'Resident memory.', rss),
        single('gauge', 'polygateway_process_heap_used_bytes', 'Used heap of JavaScript.', heapUsed),
        single('counter', 'polygateway_process_cpu_seconds_total', 'Processor time of user and system.', (user + system) / usPerS),
        single('gauge', 'polygateway_process_start_time_seconds', 'When the process started, since 1970.', performance.timeOrigin / 1000),
        { name: 'polygateway_event_loop_delay_seconds', help: 'Turns of the event loop of 10 ms and their delays, since this was last asked for.', type: 'gauge', samples: delays },
      ];
    },
    close: () => void delay.disable(),
  };
}

function single(type: 'counter' | 'gauge', name: string, help: string, value: number): MetricFamily {
  return { name, help, type, samples: [{ labels: {}, value }] };
}
