/** A list as a file: a button, and the question in which form. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  EXPORT_ROWS,
  type Export,
  type ExportFormat,
  exportCommand,
  exportPath,
  isCut,
} from '../api/exports.ts';
import { Problem, readFile } from '../api/http.ts';
import { close, open, say } from '../state/overlay.ts';
import { countText } from '../words/numbers.ts';
import { Button } from './button.tsx';
import { CommandLine } from './command-line.tsx';
import { Dialog } from './dialog.tsx';
import { Note } from './panel.tsx';

/** Asks in which form. */
export function ExportButton({ of }: { readonly of: Export }): VNode {
  return (
    <Button small={true} shortcut="e" onPress={() => open({ kind: 'export', of })}>
      Export…
    </Button>
  );
}

/** What will be in the file, how much of it, and the command that does the same. */
export function ExportDialog({ of }: { readonly of: Export }): VNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const save = async (format: ExportFormat): Promise<void> => {
    setBusy(true);
    setProblem(await failureOf(of, format, abort.current.signal));
    setBusy(false);
  };
  const off = isBusy ? 'The file is on its way' : undefined;
  const command = exportCommand(of);
  return (
    <Dialog title="Export" onClose={close}>
      <div class="ask-form">
        <p>
          A file of all {of.what}, {countText(EXPORT_ROWS)} rows at most. Where there are more, its
          last line says so.
        </p>
        {problem === undefined ? null : <Note tone="bad">{problem}</Note>}
        {command === undefined ? null : <CommandLine text={command} wide={true} />}
        <div class="line wrap" role="status">
          <Button kind="first" submits={true} off={off} onPress={() => void save('csv')}>
            As CSV
          </Button>
          <Button off={off} onPress={() => void save('jsonl')}>
            As JSON lines
          </Button>
          <Button kind="quiet" onPress={close}>
            Leave it
          </Button>
          {isBusy ? <span class="dim">It is read…</span> : null}
        </div>
      </div>
    </Dialog>
  );
}

/** So much of its end shows whether it was cut. */
const END_BYTES = 4_096;

/** Saves it; the answer says why that did not work. */
async function failureOf(
  of: Export,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const file = await readFile(exportPath(of, format), signal);
    const end = await file.slice(-END_BYTES).text();
    saveAs(file, `${of.list}.${format}`);
    close();
    if (isCut(end)) say(`Saved the first ${countText(EXPORT_ROWS)} rows; there are more`);
    else say('Saved all of them');
    return undefined;
  } catch (error) {
    return error instanceof Problem ? error.message : String(error);
  }
}

function saveAs(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
