/** Cards, and the pages that contain them. */
import { type ReactNode, useEffect, useId } from "react"
import { names } from "./names.ts"

/** A page: its title, one line about it, its actions, and its content. Sets the title of the document. */
export const Page = ({ about, actions, children, title, width = "max-w-6xl" }: {
  readonly title: string
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly width?: string
  readonly children: ReactNode
}) => {
  useEffect(() => {
    document.title = `${title} · Kinora`
  }, [title])
  return (
    <div className={names("mx-auto space-y-5 p-4 sm:p-6 lg:p-8", width)}>
      <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
          {about !== undefined && <div className="mt-0.5 max-w-2xl text-muted">{about}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A card with a title. With `flush`, tables touch the edges. */
export const Card = ({ actions, children, flush = false, title, titleAside }: {
  readonly title: string
  readonly titleAside?: ReactNode
  readonly actions?: ReactNode
  readonly flush?: boolean
  readonly children: ReactNode
}) => {
  const id = useId()
  return (
    <section aria-labelledby={id} className="card min-w-0 overflow-hidden">
      <div className="flex min-h-12 flex-wrap items-center justify-between gap-x-3 gap-y-1 px-5 pt-3 pb-2">
        <div className="flex items-center gap-2.5">
          <h2 id={id} className="text-base font-semibold">{title}</h2>
          {titleAside}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      <div className={flush ? "" : "px-5 pt-1 pb-5"}>{children}</div>
    </section>
  )
}

/** A figure with its name and a note. */
export const Figure = ({ label, note, value }: {
  readonly label: string
  readonly value: ReactNode
  readonly note?: ReactNode
}) => (
  <div className="card px-4 py-3.5 lg:px-5 lg:py-4">
    <dt className="text-sm text-muted">{label}</dt>
    <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
    {note !== undefined && <dd className="mt-0.5 text-xs text-muted">{note}</dd>}
  </div>
)

/** Figures side by side. */
export const Figures = ({ children }: { readonly children: ReactNode }) => (
  <dl className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-3 lg:gap-4">{children}</dl>
)

/** Names and values, one pair a row. Pairs whose value is `null` are omitted. */
export const Facts = ({ facts }: { readonly facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }) => (
  <dl className="divide-y divide-line text-sm">
    {facts.filter(([, value]) => value !== null).map(([name, value]) => (
      <div key={name} className="flex items-baseline justify-between gap-6 py-2 first:pt-0 last:pb-0">
        <dt className="shrink-0 text-muted">{name}</dt>
        <dd className="min-w-0 text-right break-words tabular-nums">{value}</dd>
      </div>
    ))}
  </dl>
)
