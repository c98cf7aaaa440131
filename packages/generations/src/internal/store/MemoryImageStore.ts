/** `ImageStore` in memory. */
import { MemoryBackend, type MemoryMap } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import type { UploadId } from "../../Generation.ts"
import { ImageStore, type Keep, type KeptImage } from "../../ImageStore.ts"

/** Keeps images in the memory of this process. */
export const layer: Layer.Layer<ImageStore, never, MemoryBackend> = Layer.effect(
  ImageStore,
  Effect.map(MemoryBackend, ({ access, makeMap }) => {
    const images: Images = makeMap()

    return ImageStore.of({
      // Units run one at a time.
      lockAccount: () => Effect.void,
      insert: (added) => access(() => added.forEach((image) => images.set(image.id, { ...image, isDropped: false }))),
      countUsable: (account, at) =>
        access(() => {
          const usable = Array.from(images.values()).filter((image) => isUsable(image, account, at))
          return { count: usable.length, bytes: usable.reduce((total, { bytes }) => total + bytes, 0) }
        }),
      findUsable: (account, ids, at) =>
        access(() => ids.flatMap((id) => images.get(id) ?? []).filter((image) => isUsable(image, account, at))),
      keep: (keeps) => access(() => keeps.flatMap((keep) => extend(images, keep))),
      withdraw: (account, id, at, retryAt) =>
        access(() => {
          const image = images.get(id)
          if (image === undefined || !isUsable(image, account, at)) return "Missing"
          const isDropped = DateTime.isLessThanOrEqualTo(image.keptUntil, at)
          images.set(id, { ...image, usableUntil: null, isDropped, ...(isDropped && { keptUntil: retryAt }) })
          return isDropped ? "Dropped" : "Kept"
        }),
      drop: (at, retryAt, limit) => access(() => drop(images, at, retryAt, limit)),
      delete: (ids) => access(() => ids.forEach((id) => images.delete(id)))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Entry extends KeptImage {
  /** `true` while the bytes are being deleted. */
  readonly isDropped: boolean
}

type Images = MemoryMap<UploadId, Entry>

const isUsable = (image: KeptImage, account: string, at: DateTime.Utc): boolean =>
  image.account === account && image.usableUntil !== null && DateTime.isGreaterThan(image.usableUntil, at)

const neededUntil = ({ keptUntil, usableUntil }: KeptImage): DateTime.Utc =>
  usableUntil === null ? keptUntil : DateTime.max(usableUntil, keptUntil)

const extend = (images: Images, { account, id, until }: Keep): ReadonlyArray<KeptImage> => {
  const image = images.get(id)
  if (image === undefined || image.isDropped || image.account !== account) return []
  const kept = { ...image, keptUntil: DateTime.max(image.keptUntil, until) }
  images.set(id, kept)
  return [kept]
}

const drop = (images: Images, at: DateTime.Utc, retryAt: DateTime.Utc, limit: number): ReadonlyArray<UploadId> => {
  const due = Array.from(images.values())
    .filter((image) => DateTime.isLessThanOrEqualTo(neededUntil(image), at))
    .toSorted((a, b) => DateTime.Order(neededUntil(a), neededUntil(b)))
    .slice(0, limit)
  for (const image of due) {
    images.set(image.id, { ...image, usableUntil: null, keptUntil: retryAt, isDropped: true })
  }
  return due.map(({ id }) => id)
}
