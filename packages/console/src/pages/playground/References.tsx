/** Input images: drop, paste or browse. */
import { useRef, useState } from "react"
import { Field } from "../../components/Field.tsx"
import { Icon } from "../../components/Icon.tsx"
import { names } from "../../components/names.ts"
import { addReferences, removeReference } from "./draft.ts"
import type { Reference } from "./request.ts"

/** The input images of the form. Each is uploaded at once. */
export const References = ({ error, items, max }: {
  readonly items: ReadonlyArray<Reference>
  readonly max: number
  readonly error: string | undefined
}) => {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  return (
    <Field
      label="Reference images"
      aside={`${items.length} / ${max}`}
      error={items.find(({ problem }) => problem !== null)?.problem ?? error}
    >
      {(ids) => (
        <div
          className="flex flex-wrap gap-2"
          onDrop={(event) => {
            event.preventDefault()
            setOver(false)
            addReferences([...event.dataTransfer.files], max)
          }}
          onDragOver={(event) => event.preventDefault()}
          onDragEnter={() => setOver(true)}
          onDragLeave={() => setOver(false)}
        >
          {items.map((item, index) => <Item key={item.key} item={item} number={index + 1} />)}
          {items.length < max && (
            <button
              type="button"
              onClick={() => input.current?.click()}
              className={names(
                "flex h-16 min-w-40 flex-1 items-center justify-center gap-2 rounded-lg border border-dashed px-3 text-sm transition-colors duration-150",
                isOver
                  ? "border-accent bg-accent-soft text-accent"
                  : "border-control text-muted hover:bg-raised hover:text-ink"
              )}
            >
              <Icon name="imagePlus" className="size-4" />Drop, paste or browse
            </button>
          )}
          <input
            {...ids}
            ref={input}
            hidden
            multiple
            type="file"
            accept="image/png,image/jpeg,image/webp"
            onChange={(event) => {
              addReferences([...event.target.files ?? []], max)
              event.target.value = ""
            }}
          />
        </div>
      )}
    </Field>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Item = ({ item, number }: { readonly item: Reference; readonly number: number }) => {
  const isUploading = item.id === null && item.problem === null
  return (
    <div
      aria-busy={isUploading}
      className={names(
        "relative size-16 overflow-hidden rounded-lg border",
        item.problem === null ? "border-line" : "border-danger"
      )}
    >
      <img
        src={item.preview}
        alt={`Reference ${number}${isUploading ? ", uploading" : item.problem === null ? "" : ", failed"}`}
        className={names("size-full object-cover", item.id === null && "opacity-40")}
      />
      {isUploading && <span className="progress absolute inset-x-0 bottom-0 h-1" />}
      <button
        type="button"
        aria-label={`Remove reference ${number}`}
        onClick={() => removeReference(item.key)}
        className="absolute top-0.5 right-0.5 grid size-6 place-items-center rounded-full bg-ink/80 text-surface"
      >
        <Icon name="cross" className="size-3.5" />
      </button>
    </div>
  )
}
