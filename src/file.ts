/** The durable backend without a server: tasks in a folder. */
export { file } from './backends/file/file-backend.ts';
export type { FileOptions } from './backends/file/file-options.ts';
export type { SyncInterval, SyncMode } from './domain/port/capabilities.ts';
