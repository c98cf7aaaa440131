/** `GenerationStore`, `ImageStore` and `UpstreamReports` in memory, for tests and for hosts without persistent data. */
import { MemoryBackend, type MemoryMap } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import { type Generation, type GenerationId, isFinal } from "./Generation.ts"
import {
  type Attempt,
  type AttemptEnd,
  type AttemptFiles,
  attemptFilesKept,
  type AttemptKey,
  attemptsKept,
  type Ending,
  type Expired,
  type Filtered,
  type FilteredSelection,
  GenerationStore,
  type SearchSelection,
  type Selection,
  type Start,
  type Subject
} from "./GenerationStore.ts"
import type { ImageStore } from "./ImageStore.ts"
import { lowerAscii } from "./internal/read/promptTexts.ts"
import { attemptOf } from "./internal/store/generationAttempts.ts"
import * as MemoryImageStore from "./internal/store/MemoryImageStore.ts"
import * as MemoryModelPauses from "./internal/store/MemoryModelPauses.ts"
import * as MemoryUpstreamReports from "./internal/store/MemoryUpstreamReports.ts"
import * as MemoryUsage from "./internal/store/memoryUsage.ts"
import type { ModelPauses } from "./ModelPauses.ts"
import type { UpstreamReports } from "./UpstreamReports.ts"

/** Keeps generations, their images and the reports of workers in the memory of this process. */
export const layer: Layer.Layer<GenerationStore | ImageStore | ModelPauses | UpstreamReports, never, MemoryBackend> =
  Layer.suspend(
    () => Layer.mergeAll(layerGenerations, MemoryImageStore.layer, MemoryModelPauses.layer, MemoryUpstreamReports.layer)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Tables {
  readonly generations: MemoryMap<GenerationId, Generation>
  readonly usage: MemoryUsage.Usage
  readonly putOff: MemoryMap<GenerationId, DateTime.Utc>
  readonly attempts: MemoryMap<GenerationId, ReadonlyArray<Attempt>>
  readonly attemptFilesDue: MemoryMap<GenerationId, DateTime.Utc>
}

const layerGenerations: Layer.Layer<GenerationStore, never, MemoryBackend> = Layer.effect(
  GenerationStore,
  Effect.map(MemoryBackend, ({ access, makeMap }) => {
    const tables: Tables = {
      generations: makeMap(),
      usage: { total: makeMap(), byKey: makeMap() },
      putOff: makeMap(),
      attempts: makeMap(),
      attemptFilesDue: makeMap()
    }
    const { generations, putOff } = tables

    return GenerationStore.of({
      insert: (added) => access(() => added.forEach((generation) => generations.set(generation.id, generation))),
      find: (ids) => access(() => ids.flatMap((id) => generations.get(id) ?? [])),
      list: (account, selection) => access(() => list(tables, account, selection)),
      filter: (account, selection) => access(() => filter(tables, account, selection)),
      search: (selection) => access(() => search(tables, selection)),
      queue: (ids) => access(() => ids.forEach((id) => change(tables, id, ["pending"], { status: "queued" }))),
      unqueue: (ids) => access(() => ids.forEach((id) => change(tables, id, ["queued"], { status: "pending" }))),
      start: (starts) => access(() => starts.flatMap((started) => start(tables, started))),
      endAttempts: (attempts, at, end) =>
        access(() => attempts.forEach((attempt) => endAttempt(tables, attempt, { endedAt: at, end }))),
      attempts: (id) => access(() => tables.attempts.get(id) ?? []),
      end: (endings) => access(() => endings.flatMap((ending) => end(tables, ending))),
      usage: (account, span) => access(() => MemoryUsage.read(tables.usage, account, span)),
      usageByKey: (account, span, limit) => access(() => MemoryUsage.readByKey(tables.usage, account, span, limit)),
      waiting: (models, limit, except = []) => access(() => waiting(tables, models, limit, except)),
      expired: (now, limit) => access(() => expired(tables, now, limit)),
      putOff: (ids, until) => access(() => ids.forEach((id) => putOff.set(id, until))),
      clearOutput: (ids) =>
        access(() =>
          ids.forEach((id) => {
            change(tables, id, ["completed"], { output: null })
            putOff.delete(id)
          })
        ),
      attemptFiles: (now, limit) => access(() => attemptFiles(tables, now, limit)),
      setAttemptFilesDue: (ids, due) => access(() => ids.forEach((id) => setAttemptFilesDue(tables, id, due))),
      attemptFilesDeleted: (ids, now) => access(() => ids.forEach((id) => attemptFilesDeleted(tables, id, now))),
      deleteEnded: (before, limit) => access(() => deleteEnded(tables, before, limit)),
      forget: (account, at, limit) => access(() => forget(tables, account, at, limit)),
      deleteUsage: (day, limit) => access(() => MemoryUsage.deleteBefore(tables.usage, day, limit))
    })
  })
)

/** Changes a generation that is in one of the states `from`. Returns the changed generation, or `undefined`. */
const change = (
  { generations }: Tables,
  id: GenerationId,
  from: ReadonlyArray<Generation["status"]>,
  to: Partial<Generation>
): Generation | undefined => {
  const generation = generations.get(id)
  if (generation === undefined || !from.includes(generation.status)) return undefined
  const changed = { ...generation, ...to }
  generations.set(id, changed)
  return changed
}

/** Adds an attempt. Returns the generation if it is the first one. */
const start = (tables: Tables, started: Start): ReadonlyArray<Generation> => {
  const { at, id } = started
  const isContinued = tables.generations.get(id)?.status === "processing"
  const changed = change(tables, id, ["queued"], { status: "processing", startedAt: at })
  if (changed === undefined && !isContinued) return []
  tables.attempts.set(id, [...tables.attempts.get(id) ?? [], attemptOf(started)].slice(-attemptsKept))
  return changed === undefined ? [] : [changed]
}

const endAttempt = (
  { attempts, generations }: Tables,
  { epoch, id }: AttemptKey,
  ended: { readonly endedAt: DateTime.Utc; readonly end: AttemptEnd }
): void => {
  const all = attempts.get(id) ?? []
  const last = all.at(-1)
  if (last === undefined || last.end !== null || generations.get(id)?.status !== "processing") return
  if (epoch === undefined || epoch === last.epoch) attempts.set(id, [...all.slice(0, -1), { ...last, ...ended }])
}

const remove = ({ attempts, generations }: Tables, removed: ReadonlyArray<Generation>): number => {
  for (const { id } of removed) {
    generations.delete(id)
    attempts.delete(id)
  }
  return removed.length
}

const end = (tables: Tables, ending: Ending): ReadonlyArray<Generation> => {
  const { at, id, status, ...result } = ending
  const ended = change(tables, id, status === "completed" ? ["processing"] : ["pending", "queued", "processing"], {
    status,
    finishedAt: at,
    refunded: status !== "completed",
    ...result
  })
  if (ended === undefined) return []
  MemoryUsage.count(tables.usage, ended, ending)
  const isClean = status === "completed" && (tables.attempts.get(id) ?? []).length <= 1
  if (ended.startedAt !== null && !isClean) {
    tables.attemptFilesDue.set(id, DateTime.addDuration(at, attemptFilesKept))
  }
  return [ended]
}

const list = ({ generations }: Tables, account: string, selection: Selection): ReadonlyArray<Generation> =>
  Array.from(generations.values())
    .filter((generation) => generation.account === account && isSelected(generation, selection))
    .toSorted((a, b) => a.id > b.id ? -1 : 1)
    .slice(0, selection.limit)

const filter = (tables: Tables, account: string, selection: FilteredSelection): Filtered => {
  const { key, limit, model, readMax, texts } = selection
  const read = list(tables, account, { ...selection, limit: readMax })
  const generations = read.filter((generation) =>
    (model === undefined || generation.model === model) &&
    (key === undefined || generation.key === key) &&
    (texts === undefined || texts.some((text) => lowerAscii(generation.prompt).includes(text)))
  )
  return { generations: generations.slice(0, limit), last: read[readMax - 1]?.id }
}

const search = (
  { generations }: Tables,
  { before, from, limit, model, status }: SearchSelection
): ReadonlyArray<Generation> =>
  Array.from(generations.values())
    .filter((generation) =>
      (status === undefined || generation.status === status) &&
      (model === undefined || generation.model === model) &&
      (from === undefined || generation.id >= from) &&
      (before === undefined || generation.id < before)
    )
    .toSorted((a, b) => a.id > b.id ? -1 : 1)
    .slice(0, limit)

const isSelected = (generation: Generation, { before, from, kind, plan, status }: Selection): boolean =>
  (status === undefined || generation.status === status) &&
  (kind === undefined || generation.kind === kind) &&
  (plan === undefined || generation.plan === plan) &&
  (from === undefined || generation.id >= from) &&
  (before === undefined || generation.id < before)

const waiting = (
  { generations }: Tables,
  models: ReadonlyArray<string>,
  limit: number,
  except: ReadonlyArray<GenerationId>
): ReadonlyArray<Subject> =>
  Array.from(generations.values())
    .filter(({ id, model, status }) =>
      models.includes(model) && (status === "pending" || status === "queued") && !except.includes(id)
    )
    .toSorted((a, b) => a.id < b.id ? -1 : 1)
    .slice(0, limit)
    .map(({ account, id, plan }) => ({ account, id, plan }))

const expired = ({ generations, putOff }: Tables, now: DateTime.Utc, limit: number): ReadonlyArray<Expired> => {
  const dueAt = ({ id, resultExpiresAt }: Generation) =>
    Math.max(Number(resultExpiresAt?.epochMilliseconds), putOff.get(id)?.epochMilliseconds ?? 0)
  return Array.from(generations.values())
    .filter((generation) => generation.output !== null && dueAt(generation) <= now.epochMilliseconds)
    .toSorted((a, b) => dueAt(a) - dueAt(b))
    .slice(0, limit)
    .map(({ id, output }) => ({ id, output: output ?? undefined }))
}

const attemptFiles = (
  { attemptFilesDue, attempts, generations }: Tables,
  now: DateTime.Utc,
  limit: number
): ReadonlyArray<AttemptFiles> =>
  Array.from(attemptFilesDue.entries())
    .filter(([, due]) => DateTime.isLessThanOrEqualTo(due, now))
    .toSorted(([, a], [, b]) => a.epochMilliseconds - b.epochMilliseconds)
    .slice(0, limit)
    .map(([id]) => ({ id, epoch: attempts.get(id)?.at(-1)?.epoch ?? 0, output: generations.get(id)?.output ?? null }))

const setAttemptFilesDue = ({ attemptFilesDue, generations }: Tables, id: GenerationId, due: DateTime.Utc) => {
  const generation = generations.get(id)
  if (generation !== undefined && isFinal(generation.status)) attemptFilesDue.set(id, due)
}

const attemptFilesDeleted = ({ attemptFilesDue }: Tables, id: GenerationId, now: DateTime.Utc) => {
  const due = attemptFilesDue.get(id)
  if (due !== undefined && DateTime.isLessThanOrEqualTo(due, now)) attemptFilesDue.delete(id)
}

const hasNoFiles = ({ attemptFilesDue }: Tables, { id, output }: Generation): boolean =>
  output === null && !attemptFilesDue.has(id)

const deleteEnded = (tables: Tables, before: DateTime.Utc, limit: number): number => {
  const endedAt = ({ finishedAt }: Generation) => finishedAt?.epochMilliseconds ?? Infinity
  const ended = Array.from(tables.generations.values())
    .filter((generation) => hasNoFiles(tables, generation) && endedAt(generation) < before.epochMilliseconds)
    .toSorted((a, b) => endedAt(a) - endedAt(b))
    .slice(0, limit)
  return remove(tables, ended)
}

const forget = (tables: Tables, account: string, at: DateTime.Utc, limit: number): number => {
  const { generations } = tables
  const all = Array.from(generations.values()).filter((generation) => generation.account === account)
  for (const generation of all) {
    const { id, output, resultExpiresAt } = generation
    if (output === null || resultExpiresAt === null || DateTime.isLessThanOrEqualTo(resultExpiresAt, at)) continue
    generations.set(id, { ...generation, resultExpiresAt: at })
  }
  const ended = all.filter((generation) => hasNoFiles(tables, generation) && isFinal(generation.status))
    .toSorted((a, b) => a.id < b.id ? -1 : 1)
    .slice(0, limit)
  return remove(tables, ended)
}
