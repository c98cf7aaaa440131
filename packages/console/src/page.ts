/** Routes of pages. */
import { createRoute, type RouteComponent } from "@tanstack/react-router"
import { root } from "./root.tsx"

/** The route of a page without search parameters. */
export const page = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component })
