/** The root of all URLs. */
import { createRootRoute } from "@tanstack/react-router"
import { NotFound } from "./shell/NotFound.tsx"
import { Shell } from "./shell/Shell.tsx"

/** The frame of all pages. */
export const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })
