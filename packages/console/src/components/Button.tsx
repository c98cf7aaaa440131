/** Buttons, and links that look like buttons. */
import { createLink } from "@tanstack/react-router"
import type { ComponentProps } from "react"
import { names } from "./names.ts"

const variants = {
  primary: "border-transparent bg-ink text-surface hover:bg-ink/85",
  secondary: "border-line-strong bg-surface text-ink hover:bg-raised",
  ghost: "border-transparent bg-transparent text-muted hover:bg-raised hover:text-ink",
  danger: "border-line-strong bg-surface text-danger hover:bg-danger-soft"
} as const

const sizes = {
  sm: "h-7 gap-1.5 rounded-md px-2 text-sm",
  md: "h-9 gap-2 rounded-lg px-3 text-sm",
  lg: "h-10 gap-2 rounded-lg px-4 text-base"
} as const

/** The look of a button. */
export interface ButtonLook {
  readonly variant?: keyof typeof variants | undefined
  readonly size?: keyof typeof sizes | undefined
}

const classOf = ({ size = "md", variant = "secondary" }: ButtonLook, className: string | undefined) =>
  names(
    "inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap transition-colors duration-150",
    "disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50",
    "[&_svg]:size-4 [&_svg]:shrink-0",
    variants[variant],
    sizes[size],
    className
  )

/**
 * A button. Its label is a verb, such as "Revoke key". While `busy`, it does nothing and keeps the focus, which a disabled
 * button loses.
 */
export const Button = (
  { busy = false, className, onClick, size, variant, ...props }: ComponentProps<"button"> & ButtonLook & {
    readonly busy?: boolean
  }
) => (
  <button
    type="button"
    {...props}
    aria-disabled={busy || undefined}
    onClick={busy ? (event) => event.preventDefault() : onClick}
    className={classOf({ size, variant }, className)}
  />
)

/** A button that shows an icon alone. `label` is its accessible name and its tooltip. */
export const IconButton = (
  { className, label, size = "sm", variant = "ghost", ...props }: ComponentProps<"button"> & ButtonLook & {
    readonly label: string
  }
) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    {...props}
    className={names(classOf({ size, variant }, className), size === "sm" ? "w-7 px-0" : "w-9 px-0")}
  />
)

/** A link to another place, or a download, that looks like a button. */
export const AnchorButton = ({ className, size, variant, ...props }: ComponentProps<"a"> & ButtonLook) => (
  <a {...props} className={classOf({ size, variant }, className)} />
)

/** A link to a page of the console that looks like a button. */
export const LinkButton = createLink(AnchorButton)
