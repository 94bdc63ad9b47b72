/**
 * Holds the public API to the reports in etc/: exits 1 when an entry point is not what its report
 * shows, a public name has no docstring, or a type that callers meet cannot be imported. With
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

const ENTRIES = [
  ...['', 'backend', 'config', 'conformance', 'file', 'http'],
  ...['metrics', 'redis', 'testing', 'tracing', 'types'],
];
const ROOT = new URL('..', import.meta.url);

const local = process.argv.includes('--local');
/** Each entry point is checked alone, and may show what another one exports. */
const exported = new Set(ENTRIES.flatMap(namesOf));

if (local) mkdirSync(new URL('etc/', ROOT), { recursive: true });
for (const entry of ENTRIES) {
  const config = `api-extractor${entry === '' ? '' : `.${entry}`}.json`;
  const extractorConfig = ExtractorConfig.loadFileAndPrepare(fileURLToPath(new URL(config, ROOT)));
  const { succeeded } = Extractor.invoke(extractorConfig, {
    localBuild: local,
    messageCallback: letExportedPass,
  });
  if (!succeeded) process.exitCode = 1;
}

function letExportedPass(message: ExtractorMessage): void {
  const name = /The symbol "(\w+)"|does not have an export "(\w+)"/
    .exec(message.text)
    ?.slice(1)
    .join('');
  if (name !== undefined && exported.has(name)) message.logLevel = ExtractorLogLevel.None;
}

/** An entry point is a list of names. */
function namesOf(entry: string): readonly string[] {
  const text = readFileSync(new URL(`src/${entry === '' ? 'index' : entry}.ts`, ROOT), 'utf8');
  return [...text.matchAll(/\{([^}]*)\} from/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/(\w+)(?=,|\s*$)/g)].map(([, name = '']) => name),
  );
}
