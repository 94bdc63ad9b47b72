// A worker process of stream.mjs: node stream-worker.mjs <redis url> <prefix>
import { Fairloom } from 'fairloom';
import { backendOf } from './settings.mjs';
import { answer } from './stream-task.mjs';

const [url, prefix] = process.argv.slice(2);
const loom = new Fairloom({ backend: backendOf(url, prefix), tasks: [answer] });
// A short lease: when a worker dies, another takes over a second later.
await loom.serve({ lease: '1s' });
