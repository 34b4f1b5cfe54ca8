/* Stands in for the header of uuid-dev, which XRT's headers include although Debian's libxrt-dev
 * does not depend on that package. It is used only if there is no other. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef unsigned char uuid_t[16];
void uuid_copy(uuid_t to, const uuid_t from);
void uuid_clear(uuid_t uuid);
int uuid_is_null(const uuid_t uuid);
int uuid_compare(const uuid_t one, const uuid_t other);
int uuid_parse(const char* text, uuid_t uuid);
void uuid_unparse(const uuid_t uuid, char* text);
void uuid_unparse_lower(const uuid_t uuid, char* text);
#ifdef __cplusplus
}
#endif
