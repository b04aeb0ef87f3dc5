// The exports of the product SwiftData on systems that have a module of that name themselves.
@_exported public import LogStore
@_exported public import ModelRuntime
