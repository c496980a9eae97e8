/* Written by setup.py; see structperc/engine/builds.py. */
#ifdef _WIN32
#define SP_KEPT __declspec(dllexport) __declspec(selectany)
#else
#define SP_KEPT __attribute__((weak, used, visibility("default")))
#endif
#ifdef __cplusplus
extern "C"
#endif
extern const char structperc_abi[];         /* C++: a constant is local to its file without it */
SP_KEPT const char structperc_abi[] = "structperc-abi-8d0db5cad7d273db";
