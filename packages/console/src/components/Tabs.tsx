/** Tabs. */
import { type KeyboardEvent, type ReactNode, useId, useRef } from "react"
import { names } from "./names.ts"

/** A tab: its value and its label. */
export type Tab<T extends string> = readonly [value: T, label: string]

/** Tabs and the panel of the chosen one. The arrow keys change the tab. */
export const Tabs = <T extends string>({ aside, children, label, look = "line", onChange, tabs, value }: {
  readonly label: string
  readonly tabs: ReadonlyArray<Tab<T>>
  readonly value: T
  readonly look?: "line" | "pill"
  readonly aside?: ReactNode
  readonly onChange: (tab: T) => void
  readonly children: ReactNode
}) => {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = (tabs.findIndex(([one]) => one === value) + step + tabs.length) % tabs.length
    const tab = tabs[next]
    if (tab !== undefined) onChange(tab[0])
    list.current?.querySelectorAll("button")[next]?.focus()
  }
  return (
    <>
      <div
        className={names(
          "flex items-center justify-between gap-2 border-b border-line",
          look === "pill" && "py-2 pr-2 pl-3"
        )}
      >
        <div
          ref={list}
          role="tablist"
          tabIndex={-1}
          aria-label={label}
          className="flex gap-1 overflow-x-auto p-0.5"
          onKeyDown={move}
        >
          {tabs.map(([one, text]) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`${id}-${one}`}
              aria-selected={one === value}
              aria-controls={`${id}-panel`}
              tabIndex={one === value ? 0 : -1}
              onClick={() => onChange(one)}
              className={names(
                "text-sm font-medium whitespace-nowrap transition-colors duration-150",
                look === "pill"
                  ? "h-7 rounded-md px-2.5"
                  : "relative h-9 px-2.5 after:absolute after:inset-x-2.5 after:-bottom-[3px] after:h-0.5",
                one !== value
                  ? "text-muted hover:text-ink"
                  : look === "pill"
                  ? "bg-raised text-ink"
                  : "text-ink after:bg-ink"
              )}
            >
              {text}
            </button>
          ))}
        </div>
        {aside}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`}>{children}</div>
    </>
  )
}
