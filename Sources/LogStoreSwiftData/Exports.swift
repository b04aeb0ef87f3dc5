// What the product SwiftData brings where a module of that name is the system's.
@_exported public import LogStore
@_exported public import ModelRuntime
