import type { Access } from '../access/access.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import type { MemberSettings } from '../fleet/member.ts';
import type { Model } from '../model/model.ts';
import type { Mirrors } from '../watch/mirrors.ts';
import type { Streams } from './streams.ts';

export interface StreamsOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** That of the schema that serves now. */
  readonly model: () => Model;
  /** Calls back with each new model until the signal aborts: streams of kinds that are no longer in it end. */
  readonly onModel?: (callback: (model: Model) => void, signal: AbortSignal) => void;
  /** What the config says of a cluster. Undefined if it has just left. */
  readonly settingsOf: (name: ClusterName) => MemberSettings | undefined;
  /** 32 bytes: what cursors are sealed with. Replicas that share it read each other's. */
  readonly sealKey: Uint8Array;
  /** Kinds to be treated as Secrets are, by `keyOfKind`. None by default. */
  readonly sensitiveKinds?: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The streams over these mirrors, until the signal aborts: then their views end, without a word to their readers. */
export function createStreams(_options: StreamsOptions, _signal: AbortSignal): Streams {
  const pending = (): never => {
    throw new Error('the views of streams are being built');
  };
  return { changes: pending, changesOfKinds: pending, jobStatus: pending };
}
