/**
 * Compares the public API with the reports in etc/: exits 1 when an entry point differs from its
 * report, a public name has no docstring, or a type that callers need cannot be imported. With
 * `--local` it writes the reports. Needs a build.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
} from '@microsoft/api-extractor';

/** The main entry comes first: the others may show its types, which are imported from it. */
const CONFIGS = [
  'api-extractor.json',
  'api-extractor.config.json',
  'api-extractor.file.json',
  'api-extractor.http.json',
  'api-extractor.metrics.json',
  'api-extractor.redis.json',
  'api-extractor.testing.json',
  'api-extractor.tracing.json',
];
const ROOT = new URL('..', import.meta.url);

const local = process.argv.includes('--local');
const mainNames = new Set<string>();

if (local) mkdirSync(new URL('etc/', ROOT), { recursive: true });
for (const config of CONFIGS) {
  const extractorConfig = ExtractorConfig.loadFileAndPrepare(fileURLToPath(new URL(config, ROOT)));
  const { succeeded } = Extractor.invoke(extractorConfig, {
    localBuild: local,
    messageCallback: letMainNamesPass,
  });
  if (!succeeded) process.exitCode = 1;
  if (mainNames.size === 0) readNames(extractorConfig.reportTempFilePath);
}

/** Every entry point is checked alone, so names that `fairloom` itself exports count as missing. */
function letMainNamesPass(message: ExtractorMessage): void {
  if (message.messageId !== 'ae-forgotten-export') return;
  const name = /The symbol "(\w+)"/.exec(message.text)?.[1];
  if (name !== undefined && mainNames.has(name)) message.logLevel = ExtractorLogLevel.None;
}

function readNames(report: string): void {
  const exported =
    /^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm;
  for (const [, name] of readFileSync(report, 'utf8').matchAll(exported)) {
    if (name !== undefined) mainNames.add(name);
  }
}
