export * as AddressGuard from "./AddressGuard.ts"
export * as GuardedHttp from "./GuardedHttp.ts"
