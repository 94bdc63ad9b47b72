// A worker process of etl.mjs: node etl-worker.mjs <redis url> <prefix> <queue>
import { Fairloom } from 'fairloom';
import { etl } from './etl-steps.mjs';
import { backendOf } from './settings.mjs';

const [url, prefix, queue] = process.argv.slice(2);
const loom = new Fairloom({ backend: backendOf(url, prefix), tasks: [etl] });
// A short lease: when a worker dies, other workers take over a second later.
await loom.serve({ concurrency: 2, lease: '1s', queues: [queue] });
