@_exported import Foundation
@_exported import LogStore
@_exported import ModelRuntime
