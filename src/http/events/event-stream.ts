/** One stream of changes: what its page watches, as server-sent events. */
import { onAbort } from '../../base/abort-watch.ts';
import { type Clock, elapsedMs, type Timer } from '../../base/time.ts';
import type { View } from '../../operations/view.ts';
import type { Hub, Version, Watched } from './hub.ts';
import type { Subject } from './subject.ts';

/** Time between two frames, in ms: at most four a second. */
const FRAME_MS = 250;

/** A frame without news, so that proxies keep the connection open. */
const BEAT_MS = 15_000;

/** How long a reader may read nothing before it is dropped, in ms. */
const PATIENCE_MS = 20_000;

/** How often access is asked again, in ms: with the time that it has for its answer less than 30 s. */
const ACCESS_MS = 15_000;

/** Bytes that wait for a reader; what changes meanwhile is told as it is when there is room again. */
const BUFFER_BYTES = 65_536;

/** How long a browser waits before it connects again, in ms. */
const RETRY_MS = 2_000;

/** What one stream needs. */
export interface StreamParts {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly subjects: readonly Subject[];
  /** Whose stream it is. */
  readonly caller: string;
  readonly view: View;
  /** The id of the last frame that the reader has got; it knows so much already. */
  readonly lastId: string;
  /** Asks again what the reader may, for a bounded time; anything but the same view ends the stream. */
  readonly stillMay: () => Promise<boolean>;
  /** It ends when one of them aborts. */
  readonly over: readonly AbortSignal[];
  /** It is over. */
  readonly ended: () => void;
}

/** What is known of one subject, here and at the reader. */
interface Place {
  readonly subject: Subject;
  readonly watched: Watched;
  readonly leave: () => void;
  /** What the reader has. */
  sent: Version | undefined;
  /** What it had of a stream before, by its digest. */
  readonly claimed: string;
}

const ENCODER = new TextEncoder();

/** The body of an answer. */
export function eventStream(parts: StreamParts): ReadableStream<Uint8Array> {
  const stream = new EventStream(parts);
  return new ReadableStream(
    {
      start: (controller) => stream.start(controller),
      pull: () => stream.drained(),
      cancel: () => stream.end(),
    },
    { highWaterMark: BUFFER_BYTES, size: ({ byteLength }) => byteLength },
  );
}

class EventStream {
  readonly #parts: StreamParts;
  #out: ReadableStreamDefaultController<Uint8Array> | undefined;
  #places: readonly Place[] = [];
  readonly #dirty = new Set<Place>();
  #framedAt = Number.NEGATIVE_INFINITY;
  /** Since when the reader has read nothing. */
  #fullSince: number | undefined;
  /** Of the next frame. */
  #frame: Timer | undefined;
  #beat: Timer | undefined;
  #access: Timer | undefined;
  /** Whether the reader still may is being found out: nothing is told meanwhile. */
  #isAsking = false;
  #unwatch: () => void = () => undefined;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  start(out: ReadableStreamDefaultController<Uint8Array>): void {
    this.#out = out;
    const { hub, subjects, view, caller, lastId, over } = this.#parts;
    this.#unwatch = onAbort(over, () => this.#leave());
    this.#write(`retry: ${RETRY_MS}\n\n`);
    const claims = lastId.split('.');
    this.#places = subjects.map((subject, at) => {
      const changed = (): void => this.#changed(place);
      const place: Place = {
        subject,
        ...hub.watch({ subject, view, caller, changed }),
        sent: undefined,
        claimed: claims.length === subjects.length ? (claims[at] ?? '') : '',
      };
      return place;
    });
    for (const place of this.#places) if (place.watched.version !== undefined) this.#changed(place);
    this.#keepBeating();
    this.#keepAsking();
    if (over.some(({ aborted }) => aborted)) this.#leave();
  }

  /** The reader has read: there is room again. */
  drained(): void {
    this.#fullSince = undefined;
    this.#plan();
  }

  end(): void {
    if (this.#out === undefined) return;
    this.#out = undefined;
    for (const timer of [this.#frame, this.#beat, this.#access]) timer?.cancel();
    this.#unwatch();
    for (const { leave } of this.#places) leave();
    this.#dirty.clear();
    this.#parts.ended();
  }

  #changed(place: Place): void {
    this.#dirty.add(place);
    this.#plan();
  }

  /** The next frame comes when the last one is old enough, and there is room for it. */
  #plan(): void {
    if (this.#frame !== undefined || this.#dirty.size === 0 || this.#isFull()) return;
    const { clock } = this.#parts;
    const waitMs = Math.max(0, this.#framedAt + FRAME_MS - elapsedMs(clock));
    this.#frame = clock.setTimer(waitMs, () => {
      this.#frame = undefined;
      if (!this.#isAsking && !this.#isFull()) this.#flush();
    });
  }

  #flush(): void {
    const changes = [...this.#dirty].map(changeOf).filter((text) => text !== undefined);
    this.#dirty.clear();
    if (changes.length === 0) return;
    const { clock } = this.#parts;
    const at = clock.now();
    this.#framedAt = elapsedMs(clock);
    const id = this.#places.map(({ sent }) => sent?.digest ?? '').join('.');
    this.#write(`id: ${id}\nevent: change\ndata: {"at":${at},"changes":[${changes.join()}]}\n\n`);
  }

  #isFull(): boolean {
    const isFull = (this.#out?.desiredSize ?? 0) <= 0;
    if (isFull) this.#fullSince ??= elapsedMs(this.#parts.clock);
    return isFull;
  }

  #keepBeating(): void {
    const { clock } = this.#parts;
    this.#beat = clock.setTimer(BEAT_MS, () => {
      const now = elapsedMs(clock);
      if (this.#isFull() && now - (this.#fullSince ?? now) >= PATIENCE_MS) {
        this.#close('dropped', 'the reader was too slow');
        return;
      }
      if (!this.#isFull()) this.#write(': beat\n\n');
      this.#keepBeating();
    });
  }

  #keepAsking(): void {
    const { clock, stillMay } = this.#parts;
    this.#access = clock.setTimer(ACCESS_MS, () => {
      this.#isAsking = true;
      stillMay().then(
        (may) => this.#answered(may ? undefined : 'access has changed'),
        () => this.#answered('access cannot be told'),
      );
    });
  }

  #answered(refusal: string | undefined): void {
    this.#isAsking = false;
    if (this.#out === undefined) return;
    if (refusal !== undefined) {
      this.#close('closed', refusal);
      return;
    }
    this.#keepAsking();
    this.#plan();
  }

  /** Ends it without a frame: the reader connects again and reads the state of then. */
  #leave(): void {
    const out = this.#out;
    this.end();
    out?.close();
  }

  /** Says why, whether or not there is room: so little fits always. */
  #close(event: 'dropped' | 'closed', detail: string): void {
    if (this.#out === undefined) return;
    this.#write(`event: ${event}\ndata: ${JSON.stringify({ detail })}\n\n`);
    this.#leave();
  }

  #write(text: string): void {
    this.#out?.enqueue(ENCODER.encode(text));
  }
}

/** What the reader has to be told of a subject: all of it, what has changed of it, or that nothing has. */
function changeOf(place: Place): string | undefined {
  const { subject, watched, sent, claimed } = place;
  const { version } = watched;
  if (version === undefined || version.digest === sent?.digest) return undefined;
  place.sent = version;
  const name = JSON.stringify(subject.name);
  if (sent === undefined) {
    if (version.digest === claimed) return `{"subject":${name},"unchanged":true}`;
    return `{"subject":${name},"data":${objectText(version.fields)}}`;
  }
  const set = new Map([...version.fields].filter(([key, text]) => sent.fields.get(key) !== text));
  const gone = [...sent.fields.keys()].filter((key) => !version.fields.has(key));
  return `{"subject":${name},"set":${objectText(set)},"unset":${JSON.stringify(gone)}}`;
}

function objectText(fields: ReadonlyMap<string, string>): string {
  return `{${[...fields].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join()}}`;
}
