/** Modal dialogs on the native element, which traps focus and returns it to the opener. */
import { type ReactNode, useId, useLayoutEffect, useRef } from "react"
import { Button, IconButton } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import { names } from "./names.ts"
import { Problem } from "./Problem.tsx"

/** A dialog. `onClose` is called by Escape and the close button; `onClose={null}` leaves only the dialog's own buttons. */
export const Dialog = ({ about, children, footer, look = "center", onClose, title, wide = false }: {
  readonly title: string
  readonly about?: ReactNode
  readonly footer?: ReactNode
  readonly look?: "center" | "panel"
  readonly wide?: boolean
  readonly onClose: (() => void) | null
  readonly children: ReactNode
}) => {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    const opened = dialog.current
    if (opened === null) return
    opened.showModal()
    // `showModal` focuses the first control, which is not always the one to begin with.
    const field = opened.querySelector<HTMLElement>("form :is(input:not([type=radio]), select, textarea)")
    const start = field ?? heading.current
    start?.focus()
    // Returns the focus to the opener, which the removal of an open dialog does not.
    return () => opened.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Browsers ask `onCancel` about the first Escape only, unless the user does something in between.
      closedby={onClose === null ? "none" : "closerequest"}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      className={names(
        "flex-col border border-line bg-surface p-0 shadow-pop open:flex",
        look === "panel"
          ? "mr-0 ml-auto h-dvh max-h-none w-full max-w-2xl border-y-0 border-r-0"
          : names("m-auto max-h-[min(90dvh,52rem)] w-[calc(100%-2rem)] rounded-xl", wide ? "max-w-2xl" : "max-w-lg")
      )}
    >
      <header className="flex items-start justify-between gap-4 px-5 pt-4 pb-3">
        <div className="min-w-0">
          <h2
            ref={heading}
            id={id}
            tabIndex={-1}
            className="text-lg font-semibold tracking-tight break-words outline-none"
          >
            {title}
          </h2>
          {about !== undefined && <div className="mt-0.5 text-sm text-muted">{about}</div>}
        </div>
        {onClose !== null && (
          <IconButton label="Close" onClick={onClose}>
            <Icon name="cross" />
          </IconButton>
        )}
      </header>
      <div className="min-h-0 flex-1 space-y-4 overflow-y-auto px-5 pt-1 pb-5">{children}</div>
      {footer !== undefined && (
        <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>
      )}
    </dialog>
  )
}

/** A form in a dialog that makes `change`, whose error is shown above the buttons. It cannot be submitted while `invalid`. */
export const FormDialog = (
  { about, change, children, invalid = false, onClose, submit, title, tone = "primary" }: {
    readonly title: string
    readonly about?: ReactNode
    readonly submit: string
    readonly tone?: "primary" | "danger"
    readonly change: { readonly isPending: boolean; readonly error: unknown; readonly mutate: () => void }
    readonly invalid?: boolean
    readonly onClose: () => void
    readonly children?: ReactNode
  }
) => {
  const form = useId()
  return (
    <Dialog
      title={title}
      about={about}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button form={form} type="submit" variant={tone} busy={change.isPending} disabled={invalid}>{submit}</Button>
        </>
      }
    >
      <form
        id={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        {children}
      </form>
      {change.error !== null && <Problem title={`${submit} failed`} error={change.error} />}
    </Dialog>
  )
}
