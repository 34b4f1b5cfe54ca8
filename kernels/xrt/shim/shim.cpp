// The flat C interface of npugate_xrt.h over XRT's C++ API, for XRT 2.20 and later.

#include "npugate_xrt.h"

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_hw_context.h>
#include <xrt/xrt_kernel.h>
#include <xrt/experimental/xrt_elf.h>
#include <xrt/experimental/xrt_ext.h>
#include <xrt/experimental/xrt_kernel.h>
#include <xrt/experimental/xrt_system.h>
#include <xrt/experimental/xrt_version.h>
#include <xrt/experimental/xrt_xclbin.h>

#if __has_include(<xrt/detail/version-slim.h>)
#include <xrt/detail/version-slim.h>
#elif __has_include(<xrt/detail/version.h>)
#include <xrt/detail/version.h>
#else
#include <version.h>
#endif

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <system_error>

#if XRT_VERSION_CODE < XRT_VERSION(2, 20)
#error "XRT 2.20 or newer is needed: older versions do not report why a run failed"
#endif
#define NPG_ELF_KNOWS_IF_FULL (XRT_VERSION_CODE >= XRT_VERSION(2, 21))
#define NPG_ELF_TELLS (XRT_VERSION_CODE >= XRT_VERSION(2, 23))

// Members are destroyed from the last to the first: XRT's object before what it was made from.

struct npg_device {
  xrt::device device;
};

struct npg_elf {
  xrt::elf elf;
};

struct npg_xclbin {
  xrt::xclbin xclbin;
};

struct npg_context {
  std::optional<xrt::elf> elf;
  std::optional<xrt::xclbin> xclbin;
  xrt::hw_context context;
};

struct npg_kernel {
  int32_t args;
  xrt::kernel kernel;
};

struct npg_buffer {
  xrt::bo bo;
};

struct npg_run {
  int32_t args;
  xrt::run run;
};

namespace {

constexpr int32_t unknown = -1;

// Thrown only by this file.
struct refused {
  int32_t kind;
  std::string message;
};

int32_t fill(npg_error* error, int32_t kind, int32_t code, const char* message) noexcept {
  if (error) {
    error->kind = kind;
    error->code = code;
    std::snprintf(error->message, sizeof error->message, "%s", message ? message : "");
  }
  return kind;
}

// Runs `body`, and turns any exception into an error. The most derived types come first.
template <class Body>
int32_t guard(npg_error* error, Body&& body) noexcept {
  try {
    body();
    return fill(error, NPG_OK, 0, "");
  } catch (const refused& x) {
    return fill(error, x.kind, 0, x.message.c_str());
  } catch (const xrt::run::aie_error& x) {
    return fill(error, NPG_AIE, static_cast<int32_t>(x.get_command_state()), x.what());
  } catch (const xrt::run::command_error& x) {
    return fill(error, NPG_COMMAND, static_cast<int32_t>(x.get_command_state()), x.what());
  } catch (const std::system_error& x) {
    return fill(error, NPG_SYSTEM, std::abs(x.code().value()), x.what());
  } catch (const std::exception& x) {
    return fill(error, NPG_EXCEPTION, 0, x.what());
  } catch (...) {
    return fill(error, NPG_UNKNOWN, 0, "something was thrown that is not a std::exception");
  }
}

template <class T>
T& some(T* pointer, const char* what) {
  if (!pointer) throw refused{NPG_ARGUMENT, std::string(what) + " is null"};
  return *pointer;
}

void put(const std::string& value, char* text, size_t size, size_t* needed) {
  some(needed, "needed") = value.size() + 1;
  if (size > 0) std::snprintf(&some(text, "text"), size, "%s", value.c_str());
}

// For an argument that the kernel does not have, XRT writes past its register map, or reads past
// its list of arguments.
void check_arg(int32_t arg, int32_t args) {
  if (arg < 0 || (args != unknown && arg >= args))
    throw refused{NPG_ARGUMENT, "there is no argument " + std::to_string(arg) +
                                    "; the kernel takes " + std::to_string(args)};
}

int32_t xclbin_args(const xrt::xclbin& xclbin, const std::string& name) {
  for (const auto& kernel : xclbin.get_kernels())
    if (kernel.get_name() == name) return static_cast<int32_t>(kernel.get_num_args());
  return unknown;
}

int32_t elf_args(const xrt::elf& elf, const std::string& name) {
#if NPG_ELF_TELLS
  const auto base = name.substr(0, name.find(':'));
  for (const auto& kernel : elf.get_kernels())
    if (kernel.get_name() == base) return static_cast<int32_t>(kernel.get_num_args());
#else
  (void)elf, (void)name;
#endif
  return unknown;
}

bool in_progress(int32_t state) {
  return state == ERT_CMD_STATE_NEW || state == ERT_CMD_STATE_QUEUED ||
         state == ERT_CMD_STATE_RUNNING || state == ERT_CMD_STATE_SUBMITTED;
}

// Waits for a run, and lets nothing but ERT_CMD_STATE_COMPLETED pass as success. The numbers of the
// states are in no order of time, and what `wait2` returns or throws is not proof: the driver
// library's wait for a sync object ignores that it ran out of time, and XRT then reports a command
// that is still in progress as an "unexpected command state" or as a command_error with that state.
int32_t wait_for(xrt::run& run, uint32_t milliseconds, npg_error* error) noexcept {
  npg_error thrown;
  npg_error ignored;
  bool timed_out = false;
  const int32_t kind = guard(&thrown, [&] {
    timed_out = run.wait2(std::chrono::milliseconds{milliseconds}) == std::cv_status::timeout;
  });
  int32_t now = unknown;
  guard(&ignored, [&] { now = static_cast<int32_t>(run.state()); });

  const bool is_command = kind == NPG_COMMAND || kind == NPG_AIE;
  const bool misreported =
      in_progress(now) &&
      (is_command ? in_progress(thrown.code)
                  : std::strstr(thrown.message, "unexpected command state") != nullptr);
  if (kind != NPG_OK && !misreported) return fill(error, kind, thrown.code, thrown.message);
  if (now == ERT_CMD_STATE_COMPLETED) {
    // It ended between the deadline and the look at its state: let XRT see that, and report it.
    if (timed_out) return guard(error, [&] { run.wait2(std::chrono::milliseconds{1}); });
    return fill(error, NPG_OK, 0, "");
  }
  if (in_progress(now) || (timed_out && now == unknown))
    return fill(error, NPG_HOST_TIMEOUT, now, "the command is still in progress");
  return fill(error, NPG_COMMAND, now, "the command ended without completing");
}

}  // namespace

extern "C" {

uint32_t npg_abi(void) { return NPG_ABI; }

int32_t npg_version(uint32_t* built, uint32_t* loaded, uint32_t* patch, npg_error* error) {
  return guard(error, [&] {
    some(built, "built") = XRT_VERSION_CODE;
    some(loaded, "loaded") = xrt::version::code();
    some(patch, "patch") = xrt::version::patch();
  });
}

int32_t npg_device_count(uint32_t* count, npg_error* error) {
  return guard(error, [&] { some(count, "count") = xrt::system::enumerate_devices(); });
}

int32_t npg_device_open(uint32_t index, npg_device** device, npg_error* error) {
  return guard(error, [&] { some(device, "device") = new npg_device{xrt::device(index)}; });
}

int32_t npg_device_text(npg_device* device, int32_t key, char* text, size_t size, size_t* needed,
                        npg_error* error) {
  return guard(error, [&] {
    namespace info = xrt::info;
    const auto& opened = some(device, "device").device;
    switch (key) {
      case NPG_DEVICE_BDF:
        return put(opened.get_info<info::device::bdf>(), text, size, needed);
      case NPG_DEVICE_NAME:
        return put(opened.get_info<info::device::name>(), text, size, needed);
      default:
        throw refused{NPG_ARGUMENT, "a device has no text with key " + std::to_string(key)};
    }
  });
}

void npg_device_free(npg_device* device) {
  guard(nullptr, [&] { delete device; });
}

int32_t npg_elf_open(const char* path, npg_elf** elf, npg_error* error) {
  return guard(error, [&] {
    some(elf, "elf") = new npg_elf{xrt::elf(std::string(&some(path, "path")))};
  });
}

int32_t npg_elf_info(npg_elf* elf, int32_t* full, int32_t* platform, int32_t* columns,
                     npg_error* error) {
  return guard(error, [&] {
    const auto& opened = some(elf, "elf").elf;
    int32_t is_full = unknown;
    int32_t its_platform = unknown;
    int32_t its_columns = unknown;
#if NPG_ELF_KNOWS_IF_FULL
    is_full = opened.is_full_elf() ? 1 : 0;
#endif
#if NPG_ELF_TELLS
    its_platform = static_cast<int32_t>(opened.get_platform());
    if (is_full == 1) its_columns = static_cast<int32_t>(opened.get_partition_size());
#endif
    (void)opened;
    some(full, "full") = is_full;
    some(platform, "platform") = its_platform;
    some(columns, "columns") = its_columns;
  });
}

int32_t npg_elf_kernels(npg_elf* elf, char* text, size_t size, size_t* needed, npg_error* error) {
  return guard(error, [&] {
    const auto& opened = some(elf, "elf").elf;
    std::string lines;
#if NPG_ELF_TELLS
    if (opened.is_full_elf()) {
      for (const auto& kernel : opened.get_kernels()) {
        lines += kernel.get_name() + '\t' + std::to_string(kernel.get_num_args());
        for (const auto& instance : kernel.get_instances()) lines += '\t' + instance.get_name();
        lines += '\n';
      }
    }
#endif
    (void)opened;
    put(lines, text, size, needed);
  });
}

void npg_elf_free(npg_elf* elf) {
  guard(nullptr, [&] { delete elf; });
}

int32_t npg_xclbin_open(const char* path, npg_xclbin** xclbin, npg_error* error) {
  return guard(error, [&] {
    some(xclbin, "xclbin") = new npg_xclbin{xrt::xclbin(std::string(&some(path, "path")))};
  });
}

int32_t npg_xclbin_kernels(npg_xclbin* xclbin, char* text, size_t size, size_t* needed,
                           npg_error* error) {
  return guard(error, [&] {
    std::string lines;
    for (const auto& kernel : some(xclbin, "xclbin").xclbin.get_kernels())
      lines += kernel.get_name() + '\t' + std::to_string(kernel.get_num_args()) + '\n';
    put(lines, text, size, needed);
  });
}

void npg_xclbin_free(npg_xclbin* xclbin) {
  guard(nullptr, [&] { delete xclbin; });
}

int32_t npg_context_open_elf(npg_device* device, npg_elf* elf, npg_context** context,
                             npg_error* error) {
  return guard(error, [&] {
    auto& opened = some(device, "device").device;
    auto& program = some(elf, "elf").elf;
    some(context, "context") =
        new npg_context{program, std::nullopt, xrt::hw_context(opened, program)};
  });
}

int32_t npg_context_open_xclbin(npg_device* device, npg_xclbin* xclbin, npg_context** context,
                                npg_error* error) {
  return guard(error, [&] {
    auto& opened = some(device, "device").device;
    auto& program = some(xclbin, "xclbin").xclbin;
    const auto uuid = opened.register_xclbin(program);
    some(context, "context") =
        new npg_context{std::nullopt, program, xrt::hw_context(opened, uuid)};
  });
}

void npg_context_free(npg_context* context) {
  guard(nullptr, [&] { delete context; });
}

int32_t npg_kernel_open(npg_context* context, const char* name, npg_kernel** kernel,
                        npg_error* error) {
  return guard(error, [&] {
    auto& opened = some(context, "context");
    const std::string called(&some(name, "name"));
    auto& out = some(kernel, "kernel");
    if (opened.elf)
      out = new npg_kernel{elf_args(*opened.elf, called),
                           xrt::ext::kernel(opened.context, called)};
    else
      out = new npg_kernel{xclbin_args(*opened.xclbin, called),
                           xrt::kernel(opened.context, called)};
  });
}

int32_t npg_kernel_args(npg_kernel* kernel, int32_t* count, npg_error* error) {
  return guard(error, [&] { some(count, "count") = some(kernel, "kernel").args; });
}

int32_t npg_kernel_group(npg_kernel* kernel, int32_t arg, int32_t* group, npg_error* error) {
  return guard(error, [&] {
    auto& opened = some(kernel, "kernel");
    check_arg(arg, opened.args);
    some(group, "group") = opened.kernel.group_id(arg);
  });
}

void npg_kernel_free(npg_kernel* kernel) {
  guard(nullptr, [&] { delete kernel; });
}

int32_t npg_buffer_new(npg_device* device, size_t size, int32_t kind, uint32_t group,
                       npg_buffer** buffer, npg_error* error) {
  return guard(error, [&] {
    auto& opened = some(device, "device").device;
    auto& out = some(buffer, "buffer");
    if (size == 0) throw refused{NPG_ARGUMENT, "a buffer must have at least one byte"};
    switch (kind) {
      case NPG_BUFFER_HOST_ONLY:
        out = new npg_buffer{xrt::bo(opened, size, xrt::bo::flags::host_only, group)};
        break;
      case NPG_BUFFER_CACHEABLE:
        out = new npg_buffer{xrt::bo(opened, size, xrt::bo::flags::cacheable, group)};
        break;
      case NPG_BUFFER_EXT:
        out = new npg_buffer{xrt::ext::bo(opened, size)};
        break;
      default:
        throw refused{NPG_ARGUMENT, "there is no kind of buffer " + std::to_string(kind)};
    }
  });
}

int32_t npg_buffer_map(npg_buffer* buffer, void** memory, npg_error* error) {
  return guard(error, [&] { some(memory, "memory") = some(buffer, "buffer").bo.map(); });
}

int32_t npg_buffer_size(npg_buffer* buffer, size_t* size, npg_error* error) {
  return guard(error, [&] { some(size, "size") = some(buffer, "buffer").bo.size(); });
}

int32_t npg_buffer_sync(npg_buffer* buffer, int32_t direction, size_t offset, size_t size,
                        npg_error* error) {
  return guard(error, [&] {
    auto& bo = some(buffer, "buffer").bo;
    const size_t whole = bo.size();
    if (offset > whole || size > whole - offset)
      throw refused{NPG_ARGUMENT, "the range is not within the buffer's " +
                                      std::to_string(whole) + " bytes"};
    bo.sync(direction == NPG_TO_DEVICE ? XCL_BO_SYNC_BO_TO_DEVICE : XCL_BO_SYNC_BO_FROM_DEVICE,
            size, offset);
  });
}

void npg_buffer_free(npg_buffer* buffer) {
  guard(nullptr, [&] { delete buffer; });
}

int32_t npg_run_new(npg_kernel* kernel, npg_run** run, npg_error* error) {
  return guard(error, [&] {
    auto& opened = some(kernel, "kernel");
    some(run, "run") = new npg_run{opened.args, xrt::run(opened.kernel)};
  });
}

int32_t npg_run_set_buffer(npg_run* run, int32_t arg, npg_buffer* buffer, npg_error* error) {
  return guard(error, [&] {
    auto& command = some(run, "run");
    check_arg(arg, command.args);
    command.run.set_arg(arg, some(buffer, "buffer").bo);
  });
}

int32_t npg_run_set_scalar(npg_run* run, int32_t arg, const void* value, size_t size,
                           npg_error* error) {
  return guard(error, [&] {
    auto& command = some(run, "run");
    check_arg(arg, command.args);
    if (!value) throw refused{NPG_ARGUMENT, "value is null"};
    command.run.set_arg(arg, value, size);
  });
}

int32_t npg_run_start(npg_run* run, npg_error* error) {
  return guard(error, [&] { some(run, "run").run.start(); });
}

int32_t npg_run_wait(npg_run* run, uint32_t milliseconds, npg_error* error) {
  if (!run) return fill(error, NPG_ARGUMENT, 0, "run is null");
  return wait_for(run->run, milliseconds, error);
}

int32_t npg_run_state(npg_run* run, int32_t* state, npg_error* error) {
  return guard(error, [&] {
    some(state, "state") = static_cast<int32_t>(some(run, "run").run.state());
  });
}

void npg_run_free(npg_run* run) {
  guard(nullptr, [&] { delete run; });
}

}  // extern "C"
