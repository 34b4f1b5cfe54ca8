/* A flat C interface to the part of XRT's C++ API that an NPU needs.
 *
 * No exception crosses it. Every function that takes an `npg_error` returns its kind, which is
 * NPG_OK on success; results are written through pointers, and only on success. Free handles in
 * this order: runs and buffers, kernels, contexts, ELFs and xclbins, devices.
 *
 * src/binding/abi.rs declares the same functions for Rust. Any change here other than an addition
 * raises NPG_ABI. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define NPG_ABI 2u

/* The kind of a failure, which determines the meaning of `code`. */
enum npg_error_kind {
  NPG_OK = 0,
  NPG_SYSTEM = 1,       /* an error of the operating system; code: errno */
  NPG_COMMAND = 2,      /* a command that did not complete; code: ert_cmd_state */
  NPG_AIE = 3,          /* the same, detected by the array; code: ert_cmd_state */
  NPG_EXCEPTION = 4,    /* another C++ exception; code: 0 */
  NPG_UNKNOWN = 5,      /* something thrown that is not a std::exception; code: 0 */
  NPG_HOST_TIMEOUT = 6, /* the command is still in progress; code: ert_cmd_state */
  NPG_ARGUMENT = 7,     /* refused before XRT was called; code: 0 */
  NPG_UNSUPPORTED = 8   /* missing from the XRT that the shim was built against; code: 0 */
};

typedef struct npg_error {
  int32_t kind;
  int32_t code;
  char message[1024];
} npg_error;

/* Functions that return text copy it to `text`, truncated to `size` bytes with the closing zero,
 * and set `needed` to the number of bytes that the whole text takes. */

typedef struct npg_device npg_device;
typedef struct npg_elf npg_elf;
typedef struct npg_xclbin npg_xclbin;
typedef struct npg_context npg_context;
typedef struct npg_kernel npg_kernel;
typedef struct npg_buffer npg_buffer;
typedef struct npg_run npg_run;

/* The NPG_ABI that the shim was compiled with. */
uint32_t npg_abi(void);
/* XRT's version codes, (major << 16) + minor, of the headers and of the loaded library, and the
 * patch level of the loaded library, which is 0 if it is unknown. */
int32_t npg_version(uint32_t* built, uint32_t* loaded, uint32_t* patch, npg_error* error);

enum npg_device_key {
  NPG_DEVICE_BDF = 0, /* 0000:c5:00.1 */
  NPG_DEVICE_NAME = 1 /* RyzenAI-npu4 */
};
int32_t npg_device_count(uint32_t* count, npg_error* error);
int32_t npg_device_open(uint32_t index, npg_device** device, npg_error* error);
int32_t npg_device_text(npg_device* device, int32_t key, char* text, size_t size, size_t* needed,
                        npg_error* error);
void npg_device_free(npg_device* device);

int32_t npg_elf_open(const char* path, npg_elf** elf, npg_error* error);
/* Whether it is a full ELF (1, 0), its platform (the OS/ABI byte of the ELF) and the number of
 * columns that it takes; -1 for what the shim's XRT does not report. */
int32_t npg_elf_info(npg_elf* elf, int32_t* full, int32_t* platform, int32_t* columns,
                     npg_error* error);
/* A line for each kernel: its name, the number of its arguments and its instances, separated by
 * tabs. */
int32_t npg_elf_kernels(npg_elf* elf, char* text, size_t size, size_t* needed, npg_error* error);
void npg_elf_free(npg_elf* elf);

int32_t npg_xclbin_open(const char* path, npg_xclbin** xclbin, npg_error* error);
/* As npg_elf_kernels, without instances. */
int32_t npg_xclbin_kernels(npg_xclbin* xclbin, char* text, size_t size, size_t* needed,
                           npg_error* error);
void npg_xclbin_free(npg_xclbin* xclbin);

int32_t npg_context_open_elf(npg_device* device, npg_elf* elf, npg_context** context,
                             npg_error* error);
/* Registers the xclbin with the device, then makes a context for it. */
int32_t npg_context_open_xclbin(npg_device* device, npg_xclbin* xclbin, npg_context** context,
                                npg_error* error);
void npg_context_free(npg_context* context);

/* `name` is `kernel:instance` in a context of an ELF, the kernel's name in one of an xclbin. */
int32_t npg_kernel_open(npg_context* context, const char* name, npg_kernel** kernel,
                        npg_error* error);
/* The number of arguments; -1 if the shim's XRT does not report it. */
int32_t npg_kernel_args(npg_kernel* kernel, int32_t* count, npg_error* error);
/* The memory group of an argument, which is valid only in the kernel's context. */
int32_t npg_kernel_group(npg_kernel* kernel, int32_t arg, int32_t* group, npg_error* error);
void npg_kernel_free(npg_kernel* kernel);

enum npg_buffer_kind {
  NPG_BUFFER_HOST_ONLY = 0, /* data of an xclbin's kernel */
  NPG_BUFFER_CACHEABLE = 1, /* instructions of an xclbin's kernel */
  NPG_BUFFER_EXT = 2        /* data of an ELF's kernel; no group */
};
enum npg_direction { NPG_TO_DEVICE = 0, NPG_FROM_DEVICE = 1 };
int32_t npg_buffer_new(npg_device* device, size_t size, int32_t kind, uint32_t group,
                       npg_buffer** buffer, npg_error* error);
/* The host's view of the buffer, of npg_buffer_size bytes, which is valid until it is freed. */
int32_t npg_buffer_map(npg_buffer* buffer, void** memory, npg_error* error);
int32_t npg_buffer_size(npg_buffer* buffer, size_t* size, npg_error* error);
int32_t npg_buffer_sync(npg_buffer* buffer, int32_t direction, size_t offset, size_t size,
                        npg_error* error);
void npg_buffer_free(npg_buffer* buffer);

int32_t npg_run_new(npg_kernel* kernel, npg_run** run, npg_error* error);
int32_t npg_run_set_buffer(npg_run* run, int32_t arg, npg_buffer* buffer, npg_error* error);
int32_t npg_run_set_scalar(npg_run* run, int32_t arg, const void* value, size_t size,
                           npg_error* error);
int32_t npg_run_start(npg_run* run, npg_error* error);
/* Succeeds only if the command completed. With 0 `milliseconds` it waits without limit. There is no
 * abort: XRT's sends a packet that the driver does not know, and waits for it without limit. */
int32_t npg_run_wait(npg_run* run, uint32_t milliseconds, npg_error* error);
/* The current ert_cmd_state. */
int32_t npg_run_state(npg_run* run, int32_t* state, npg_error* error);
void npg_run_free(npg_run* run);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
