export * as ClientAddress from "./ClientAddress.ts"
export * as HttpServerOptions from "./HttpServerOptions.ts"
export * as HttpServerRoutes from "./HttpServerRoutes.ts"
export * as Readiness from "./Readiness.ts"
