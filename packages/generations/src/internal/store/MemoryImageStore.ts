/** What is known of images, in memory. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import type { UploadId } from "../../Generation.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"

/** In the memory of this process. */
export const layer: Layer.Layer<ImageStore, never, MemoryBackend> = Layer.effect(
  ImageStore,
  Effect.gen(function*() {
    const { access, makeMap } = yield* MemoryBackend
    const images = makeMap<UploadId, Entry>()

    const isUsable = ({ usableUntil }: KeptImage, at: DateTime.Utc) =>
      usableUntil !== null && DateTime.isGreaterThan(usableUntil, at)

    return ImageStore.of({
      insert: (added) => access(() => added.forEach((image) => images.set(image.id, { ...image, isDropped: false }))),
      countUsable: (account, at) =>
        access(() =>
          Array.from(images.values()).filter((image) => image.account === account && isUsable(image, at)).length
        ),
      findUsable: (account, ids, at) =>
        access(() =>
          ids.flatMap((id) => images.get(id) ?? [])
            .filter((image) => image.account === account && isUsable(image, at))
        ),
      keep: (keeps) =>
        access(() =>
          keeps.flatMap(({ account, id, until }) => {
            const image = images.get(id)
            if (image === undefined || image.isDropped || image.account !== account) return []
            const kept = { ...image, keptUntil: DateTime.max(image.keptUntil, until) }
            images.set(id, kept)
            return [kept]
          })
        ),
      withdraw: (account, id, at) =>
        access(() => {
          const image = images.get(id)
          if (image?.account !== account || !isUsable(image, at)) return false
          images.set(id, { ...image, usableUntil: null })
          return true
        }),
      drop: (at, retryAt, limit) =>
        access(() => {
          const due = Array.from(images.values())
            .filter((image) => DateTime.isLessThanOrEqualTo(neededUntil(image), at))
            .toSorted((a, b) => DateTime.Order(neededUntil(a), neededUntil(b)))
            .slice(0, limit)
          for (const image of due) {
            images.set(image.id, { ...image, usableUntil: null, keptUntil: retryAt, isDropped: true })
          }
          return due.map(({ id }) => id)
        }),
      delete: (ids) => access(() => ids.forEach((id) => images.delete(id)))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `isDropped`: its bytes are being deleted. */
interface Entry extends KeptImage {
  readonly isDropped: boolean
}

const neededUntil = ({ keptUntil, usableUntil }: KeptImage): DateTime.Utc =>
  usableUntil === null ? keptUntil : DateTime.max(usableUntil, keptUntil)
